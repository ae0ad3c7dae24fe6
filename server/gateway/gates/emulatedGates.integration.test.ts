import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { ask, engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { chatEndpoint } from "../http/chatEndpoint";
import { startTestGateway, testConfig, until } from "../testing/testGateway";

const LARGE = "gemma-2-9b";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

/** A cascade of two emulated models: the small one is right, and sure of it, on the prompt `short` alone. No judge runs. */
async function emulated(gate: GateDocument) {
  const { call } = await emulators.start(20);
  await call("PUT", "/outcomes", {
    name: "held-out",
    promptIds: ["short", "long"],
    inputTokens: [30, 30],
    models: [
      { model: MODEL, outputTokens: [20, 30], label: [100, 0], judged: [83.4, 20] },
      { model: LARGE, outputTokens: [20, 30], label: [100, 100], judged: [90, 90] },
    ],
  });
  const started = await Promise.all([MODEL, LARGE].map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
  const gateway = await startTestGateway();
  const stages = [MODEL, LARGE].map((model, at) => ({ model, urls: [urls[at] ?? ""] }));
  await gateway.put({ ...testConfig({ stages, thresholds: [60], gates: [gate] }), timeScale: 20 });
  const direct = async (prompt: string, more = {}) =>
    (
      await fetch(`${urls[0]}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...ask(prompt), ...more }),
      })
    ).json() as Promise<Record<string, unknown>>;
  return { ...gateway, direct, asked: (prompt: string, more = {}) => gateway.chat({ ...ask(prompt), model: "cascade/test", ...more }) };
}

/** Without what differs from answer to answer. */
const withoutIds = (text: string): string => text.replace(/"id":"[^"]*"/g, '"id":""').replace(/"created":\d+/g, '"created":0');

describe("a confidence gate on emulated engines", () => {
  const gate: GateDocument = { kind: "confidence", measure: "minimum" };

  it("accepts what the small model is sure of and escalates what it is not, without a judge", async () => {
    const { asked, decisions } = await emulated(gate);
    const [sure, unsure] = [await asked("short"), await asked("long")];
    expect([sure, unsure].map(({ headers }) => headers.get("x-weir-model"))).toEqual([MODEL, LARGE]);
    expect(sure.headers.get("x-weir-judge-score")).toBe("83.4");
    await Promise.all([sure.text(), unsure.text()]);
    const stages = (await decisions()).flatMap((decision) => decision.stages);
    expect(stages.map(({ gate: by, judgedScore, judgeSeconds, reason }) => [by?.kind, judgedScore, judgeSeconds, reason])).toEqual([
      ["confidence", 83.4, null, "score-at-or-above-threshold"],
      ["confidence", 20, null, "score-below-threshold"],
      [undefined, null, null, "last-stage"],
    ]);
  });

  it("shows no trace of the log probabilities that it asked for, in an answer or in a stream", async () => {
    const { asked, direct } = await emulated(gate);
    const plain = await direct("short");
    const whole = await (await asked("short")).text();
    expect(withoutIds(whole)).toBe(withoutIds(JSON.stringify(plain)));
    const stream = await (await asked("short", { stream: true, stream_options: { include_usage: true } })).text();
    expect(withoutIds(stream)).toBe(withoutIds(chatEndpoint.text?.events(plain, { includeUsage: true }) ?? ""));
  });

  it("leaves the client those that it asks for itself, in an answer and in a stream", async () => {
    const { asked, direct, decisions } = await emulated(gate);
    const own = { logprobs: true, top_logprobs: 2 };
    const [choice] = (await direct("short", own)).choices as { logprobs: { content: object[] } }[];
    const whole = (await (await asked("short", own)).json()) as { choices: { logprobs: object }[] };
    expect(whole.choices[0]?.logprobs).toEqual(choice?.logprobs);
    const stream = await (await asked("short", { ...own, stream: true })).text();
    expect(stream).toContain(JSON.stringify(choice?.logprobs));
    expect((await decisions()).map(({ stages }) => stages[0]?.judgedScore)).toEqual([83.4, 83.4]);
  });

  it("reads the older endpoint as well", async () => {
    const { post, decisions } = await emulated(gate);
    const answer = await post("/v1/completions", { model: "cascade/test", prompt: "[prompt short] What is it?", max_tokens: 40 });
    expect(answer.headers.get("x-weir-model")).toBe(MODEL);
    const { choices } = (await answer.json()) as { choices: { logprobs: unknown; text: string }[] };
    expect(choices).toEqual([expect.objectContaining({ logprobs: null, text: expect.stringContaining("Answer:") })]);
    expect((await decisions())[0]?.stages[0]?.judgedScore).toBe(83.4);
  });
});

describe("an agreement gate on emulated engines", () => {
  it("accepts what another model answers too, and counts its tokens as the gate's", async () => {
    const { asked, decisions, adminUrl } = await emulated({ kind: "agreement", answer: "choice", peers: [LARGE] });
    const answers = [await asked("short"), await asked("long")];
    expect(answers.map(({ headers }) => headers.get("x-weir-model"))).toEqual([MODEL, LARGE]);
    await Promise.all(answers.map((answer) => answer.text()));
    const [agreed, differs] = (await decisions()).map(({ stages }) => stages[0]);
    expect([agreed?.judgedScore, differs?.judgedScore]).toEqual([100, 0]);
    expect(agreed?.gate?.calls).toEqual([
      { model: LARGE, outcome: "answered", inputTokens: 30, outputTokens: 20, seconds: expect.any(Number) },
    ]);
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toContain(`weir_gateway_gate_calls_total{model="${LARGE}",outcome="answered"} 2`);
    expect(metrics).toContain(`weir_gateway_gate_tokens_total{model="${LARGE}",direction="output"} 50`);
    expect(metrics).toContain(`weir_gateway_gate_readings_total{model="${MODEL}",gate="agreement",outcome="scored"} 2`);
  });
});
