import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { ensureTestAddon } from "@/server/addons/testing/testAddons";
import { probeEndpoint } from "@/server/endpoints/probeEndpoint";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { canonicalMetricNames } from "@/server/engines/engineMapping";
import { readPriorityUse } from "@/server/engines/priorityUse";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { oneModel, startTestGateway } from "@/server/gateway/testing/testGateway";
import { alias, type LlamaEngine, startLlamaEngine } from "./testing/testLlamaEngine";

const missing = await ensureTestAddon("real-engine");

describe("the real engine in Weir", needs(condition("the add-on real-engine", missing === null)), () => {
  let engine: LlamaEngine;
  beforeAll(async () => {
    engine = await startLlamaEngine();
  }, 180_000);
  afterAll(() => engine?.stop());

  it("is read by telemetry: every metric that its row names, with the counts of its usage", async () => {
    const asked = { prompt: "12+7=?\n", max_tokens: 6, temperature: 0, ignore_eos: true };
    for (let count = 0; count < 3; count += 1) await engine.ask("/v1/completions", asked);
    const text = parsePromText(await (await fetch(`${engine.url}/metrics`)).text());
    expect(text.bad).toEqual([]);
    const mapping = chooseMapping(text, null);
    expect(mapping?.engine).toBe("weir-engine");
    if (mapping === undefined) return;
    const readings = readCanonicalMetrics(text, mapping);
    const states = Object.fromEntries(canonicalMetricNames.map((name) => [name, readings[name].state]));
    const without = ["preemptions", "prefixQueries", "prefixHits", "sleepState"];
    expect(states).toEqual(
      Object.fromEntries(canonicalMetricNames.map((name) => [name, without.includes(name) ? "not-applicable" : "value"])),
    );
    expect(readings).toMatchObject({
      running: { value: 0 },
      kvCapacityTokens: { value: 4 * 256 },
      promptTokens: { value: 24 },
      generationTokens: { value: 18 },
      answered: { value: 3 },
    });
  });

  it("is recognised when its address is attached, with its limits and without use of priorities", async () => {
    const probe = await probeEndpoint(
      { name: "real", url: engine.url },
      { signal: new AbortController().signal, generate: true, limitMs: 30_000 },
    );
    expect(probe.engine).toMatchObject({ type: "weir-engine", version: expect.stringMatching(/^3\.22\.1\+llama\.cpp-/) });
    expect(probe.limits).toEqual({ maxSequences: 4, maxBatchedTokens: 512 });
    expect(probe.served).toMatchObject([{ id: alias }]);
    expect(probe.findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(probe.ttftSeconds).toBeGreaterThan(0);
    expect(readPriorityUse(await (await fetch(`${engine.url}/server_info`)).json())).toEqual({ kind: "unused" });
  });

  it("streams an answer with log probabilities through the gateway as it gives it itself", async () => {
    const large = await startLlamaEngine(["--alias", "large"]);
    try {
      const gateway = await startTestGateway();
      await gateway.put(oneModel([large.url]));
      const asked = {
        model: "large",
        messages: [{ role: "user", content: "12+7=?" }],
        temperature: 0,
        max_tokens: 8,
        logprobs: true,
        top_logprobs: 2,
      };
      const direct = (await large.ask("/v1/chat/completions", asked)).choices[0];
      const response = await gateway.chat({ ...asked, stream: true });
      expect(response.status).toBe(200);
      // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
      const choices: any[] = [];
      const parser = createParser({ onEvent: ({ data }) => void (data !== "[DONE]" && choices.push(...JSON.parse(data).choices)) });
      parser.feed(await response.text());
      expect(choices.map((choice) => choice.delta.content ?? "").join("")).toBe(direct.message.content);
      expect(choices.flatMap((choice) => choice.logprobs?.content ?? [])).toEqual(direct.logprobs.content);
    } finally {
      await large.stop();
    }
  });
});
