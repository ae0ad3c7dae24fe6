import type OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { freePort } from "@/server/testing/freePorts";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { ask, engineOn, isReady, MODEL, metric, outcomes, post, TestEmulators, until } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

describe("an emulated engine", () => {
  it("loads first, answers 503 meanwhile, and lists its model", async () => {
    const { call } = await emulators.start();
    const up = await call("POST", "/engines", engineOn(0));
    expect(up.status).toBe(202);
    const { url, state } = (await up.json()) as EmulatedEngine;
    expect(state).toBe("loading");
    expect((await fetch(`${url}/health`)).status).toBe(503);
    await until(() => isReady(url));
    const list = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; max_model_len: number }[] };
    expect(list.data.map((one) => one.id)).toEqual([MODEL]);
    expect(list.data[0]?.max_model_len).toBe(8192);
    expect(await (await fetch(`${url}/version`)).json()).toEqual({ version: "0.32.0+emulated" });
  });

  it("refuses without outcomes, for an unknown model and for a malformed request, each with an OpenAI error", async () => {
    const { call } = await emulators.start();
    const { url } = (await (await call("POST", "/engines", engineOn(0))).json()) as EmulatedEngine;
    await until(() => isReady(url));
    const cases: [unknown, number, RegExp][] = [
      [ask("short"), 503, /PUT \/outcomes/],
      [{ ...ask("short"), model: "gpt" }, 404, /`gpt` does not exist/],
      [{ model: MODEL }, 400, /'loc': 'body.messages', 'msg': 'Field required'/],
      [{ ...ask("short"), priority: "high" }, 400, /'int_parsing', 'loc': 'body.priority'/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await post(url, body);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(message), code: status } });
    }
    expect((await fetch(`${url}/v1/chat/completions`, { method: "POST", body: "{" })).status).toBe(400);
  });

  it("answers a text, a list of texts and token ids at the older endpoint, with n answers to each", async () => {
    const { client } = await emulators.serving();
    const prompt = "[prompt short] What is it?";
    const { choices, usage } = await client.completions.create({ model: MODEL, prompt: [prompt, prompt], n: 2, max_tokens: 3 });
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([0, 1, 2, 3].map((index) => [index, "length"]));
    expect(new Set(choices.map(({ text }) => text)).size).toBe(1);
    expect(usage).toMatchObject({ prompt_tokens: 200, completion_tokens: 12 });
    const ofIds = await client.completions.create({ model: MODEL, prompt: [5, 6, 7], max_tokens: 1 });
    expect(ofIds.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 1 });
  });

  it("gives the judged score of an answer as its smallest token probability", async () => {
    const { client } = await emulators.serving();
    const answer = await client.chat.completions.create({ ...ask("short"), logprobs: true, top_logprobs: 2 });
    const tokens = answer.choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join("")).toBe(answer.choices[0]?.message.content);
    expect(Math.exp(Math.min(...tokens.map(({ logprob }) => logprob)))).toBeCloseTo(0.834, 6);
    expect(tokens.every(({ token, top_logprobs }) => top_logprobs.length === 2 && top_logprobs[0]?.token === token)).toBe(true);
  });

  it("ends before a stop text, streamed or not, and goes on to the limit if it is to ignore its end", async () => {
    const { client } = await emulators.serving();
    const whole = (await client.chat.completions.create(ask("short"))).choices[0]?.message.content ?? "";
    const stop = whole.slice(60, 64);
    const cut = await client.chat.completions.create({ ...ask("short"), stop });
    const before = whole.slice(0, whole.indexOf(stop));
    expect(cut.choices[0]).toMatchObject({ message: { content: before }, finish_reason: "stop", stop_reason: stop });
    let content = "";
    for await (const { choices } of await client.chat.completions.create({ ...ask("short"), stop, stream: true }))
      content += choices[0]?.delta.content ?? "";
    expect(content).toBe(before);
    const on = await client.chat.completions.create({ ...ask("short"), max_tokens: 50, ...{ ignore_eos: true } });
    expect(on.usage?.completion_tokens).toBe(50);
  });

  it("tells the tokens of a prompt, as many as it counts when it answers", async () => {
    const { engineUrl } = await emulators.serving();
    const body = { model: MODEL, prompt: "[prompt short] What is it?", return_token_strs: true };
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${engineUrl}/tokenize`, { method: "POST", headers, body: JSON.stringify(body) });
    const told = (await answer.json()) as { count: number; tokens: number[]; token_strs: string[] };
    expect(told).toMatchObject({ count: 100, max_model_len: 8192 });
    expect(told.token_strs.join("")).toBe(body.prompt);
    expect(told.tokens).toHaveLength(100);
  });

  it("answers with the tag and the tokens of the outcome row", async () => {
    const { client } = await emulators.serving();
    const answer = await client.chat.completions.create(ask("short"));
    expect(answer.choices[0]?.message.content).toMatch(/^\[emulated answer short by gemma-2-2b\]( [a-z]+){38}\nAnswer: [A-D]$/);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 });
  });

  it("ends an answer with what the outcomes say is answered, where it is neither cut nor of one token", async () => {
    const { client, call } = await emulators.serving();
    const content = async (prompt: string, maxTokens: number | null = null) =>
      (await client.chat.completions.create({ ...ask(prompt), max_tokens: maxTokens })).choices[0]?.message.content;
    const { models } = outcomes();
    await call("PUT", "/outcomes", { ...outcomes(), models: models.map((model) => ({ ...model, answer: ["seven [7]", ""] })) });
    expect(await content("short")).toMatch(/ [a-z]+\nAnswer: seven \[7\]$/);
    expect(await content("short", 39)).not.toContain("Answer:");
    expect(await content("long")).not.toContain("Answer:");
    await call("PUT", "/outcomes", outcomes([1, 2]));
    expect(await content("short")).toBe("[emulated answer short by gemma-2-2b]");
    expect(await content("long")).toMatch(/^\[emulated answer long by gemma-2-2b\]\nAnswer: [A-D]$/);
  });

  it("reads the emulated answers that a prompt shows, a word a token", async () => {
    const { client } = await emulators.serving();
    const answer = (await client.chat.completions.create(ask("short"))).choices[0]?.message.content;
    const messages = [{ role: "user" as const, content: `[prompt long] What is it?\n${answer}\n${answer}` }];
    const shown = await client.chat.completions.create({ model: MODEL, messages });
    // Two answers of 40 tokens each, of which the last is two words.
    expect(shown.usage?.prompt_tokens).toBe(200 + 2 * 41);
  });

  it("takes a priority, as vLLM does that schedules in the order of coming", async () => {
    const { engineUrl } = await emulators.serving();
    expect((await post(engineUrl, { ...ask("short"), priority: 5 })).status).toBe(200);
  });

  it("streams role, one event per token, finish reason, usage where asked for, and [DONE]", async () => {
    const { engineUrl } = await emulators.serving();
    const text = await (await post(engineUrl, { ...ask("short"), stream: true, stream_options: { include_usage: true } })).text();
    const events = text.trimEnd().split("\n\n");
    expect(events.every((event) => event.startsWith("data: "))).toBe(true);
    expect(events.at(-1)).toBe("data: [DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)) as OpenAI.ChatCompletionChunk);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.content).length).toBe(40);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 40 } });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it("streams what the official client reads, without usage unless asked", async () => {
    const { client } = await emulators.serving();
    const stream = await client.chat.completions.create({ ...ask("short"), stream: true });
    let content = "";
    let usages = 0;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? "";
      if (chunk.usage) usages += 1;
    }
    const whole = await client.chat.completions.create(ask("short"));
    expect(content).toBe(whole.choices[0]?.message.content);
    expect(usages).toBe(0);
  });

  it("sends a stream's tokens while they are generated, not at the end", async () => {
    const { engineUrl } = await emulators.serving(4, [40, 400]);
    const response = await post(engineUrl, { ...ask("long"), stream: true });
    const arrivals: number[] = [];
    for await (const _ of response.body ?? []) arrivals.push(performance.now());
    expect(arrivals.length).toBeGreaterThan(8);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(500);
  });

  it("exports everything that telemetry looks for under vLLM's names", async () => {
    const { client, engineUrl } = await emulators.serving();
    await client.chat.completions.create(ask("short"));
    const metrics = parsePromText(await (await fetch(`${engineUrl}/metrics`)).text());
    const mapping = chooseMapping(metrics, "0.32.0+emulated");
    expect(metrics.badLines).toBe(0);
    expect(mapping?.engine).toBe("weir-emulator");
    const canonicalMetrics = mapping && readCanonicalMetrics(metrics, mapping);
    expect(Object.entries(canonicalMetrics ?? {}).filter(([, reading]) => reading.state === "absent")).toEqual([]);
    expect(canonicalMetrics).toMatchObject({
      running: { value: 0 },
      waiting: { value: 0 },
      kvUse: { value: { max: 0 } },
      answered: { value: 1 },
      promptTokens: { value: 100 },
      generationTokens: { value: 40 },
    });
  });

  it("stops at max_tokens with finish_reason length", async () => {
    const { client } = await emulators.serving();
    const answer = await client.chat.completions.create({ ...ask("long"), max_tokens: 7 });
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.completion_tokens).toBe(7);
  });

  it("takes, with the noise off, exactly as long as the simulator says", async () => {
    const { client, engineUrl } = await emulators.serving(2);
    const started = performance.now();
    await client.chat.completions.create(ask("long"));
    const wallSeconds = (performance.now() - started) / 1000;
    const [card, gpu] = [modelCard(MODEL), gpuCard("l40s")];
    const fit = card && gpu ? replicaModel(card, gpu, { tp: 1, pp: 1 }) : undefined;
    if (!fit?.fits) throw new Error("the model should fit");
    const simulated = simulateReplica(fit.replica, {
      arrivalSeconds: Float64Array.of(0),
      inputTokens: Int32Array.of(200),
      outputTokens: Int32Array.of(400),
    });
    const expected = simulated.endToEndSeconds[0] ?? Number.NaN;
    expect(await metric(engineUrl, "vllm:e2e_request_latency_seconds_sum")).toBeCloseTo(expected, 3);
    expect(await metric(engineUrl, "vllm:time_to_first_token_seconds_sum")).toBeCloseTo(simulated.ttftSeconds[0] ?? Number.NaN, 3);
    expect(wallSeconds).toBeGreaterThan(expected / 2);
    expect(wallSeconds).toBeLessThan(expected / 2 + 1);
  });

  it("gives a request up when its client leaves", async () => {
    const { engineUrl } = await emulators.serving(4, [40, 7900]);
    const leave = new AbortController();
    const response = await fetch(`${engineUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...ask("long"), stream: true }),
      signal: leave.signal,
    });
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 1);
    expect(await metric(engineUrl, "vllm:kv_cache_usage_perc")).toBeGreaterThan(0);
    leave.abort();
    await response.text().catch(() => undefined);
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 0);
    expect(await metric(engineUrl, "vllm:request_success_total", 'finished_reason="abort"')).toBe(1);
    expect(await metric(engineUrl, "vllm:request_success_total", 'finished_reason="stop"')).toBe(0);
  });

  it("ends an answer at the model's context length", async () => {
    const { client } = await emulators.serving(1000, [40, 50_000]);
    const answer = await client.chat.completions.create(ask("long"));
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.total_tokens).toBe(modelCard(MODEL)?.maxContextTokens);
  });

  it("refuses a prompt longer than the model's context", async () => {
    const { call, engineUrl } = await emulators.serving();
    await call("PUT", "/outcomes", { ...outcomes(), inputTokens: [100, 9000] });
    const answer = await post(engineUrl, ask("long"));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringMatching(/context length is 8192 tokens. However, your prompt contains at least 8193/) },
    });
  });
});
