import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedCluster, EmulatedEngine, EngineRequest } from "@/server/contracts/emulatorAdmin";
import { chooseMapping } from "@/server/telemetry/engineMapping";
import { readGpus } from "@/server/telemetry/gpuMapping";
import { parsePromText } from "@/server/telemetry/promText";
import { readEngine } from "@/server/telemetry/readEngine";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { createAdminServer } from "./adminServer";
import { type Cluster, createCluster } from "./emulatedCluster";
import { listen, shut } from "./http";
import { createStateStore } from "./stateStore";

const TOKEN = "secret";
const MODEL = "gemma-2-2b";
/** Loading is one wall second at least, whatever the time scale. */
const LOAD_LIMIT_MS = 5000;

let folder: string;
const open: { readonly cluster: Cluster; readonly admin: Server }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-emulator-"));
});
afterEach(async () => {
  await shutAll();
  rmSync(folder, { recursive: true });
});

async function shutAll(): Promise<void> {
  for (const { cluster, admin } of open.splice(0)) await Promise.all([cluster.shutDown(), shut(admin)]);
}

/** An emulator at a time scale, and calls to its admin listener. */
async function emulator(timeScale = 20, truthEnabled = false) {
  const cluster = await createCluster(
    {
      stateDir: folder,
      adminPort: 0,
      dcgmPort: 1,
      enginePortBase: 24_630,
      timeScale,
      truth: { enabled: truthEnabled, seed: 1 },
      adminToken: TOKEN,
      cluster: { gpu: "l40s", nodes: [{ name: "n1", gpus: 2 }] },
    },
    createStateStore(folder),
  );
  const admin = createAdminServer(Promise.resolve(cluster), TOKEN);
  await listen(admin, 0);
  open.push({ cluster, admin });
  const url = `http://127.0.0.1:${(admin.address() as AddressInfo).port}`;
  const call = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { cluster, url, call, describe: async () => (await (await call("GET", "/cluster")).json()) as EmulatedCluster };
}

const engineOn = (gpu: number, change: Partial<EngineRequest> = {}): EngineRequest => ({
  id: `e${gpu}`,
  model: MODEL,
  gpu: "l40s",
  tp: 1,
  pp: 1,
  placements: [{ node: "n1", gpus: [gpu] }],
  ...change,
});

const outcomes = (outputTokens: readonly [number, number] = [40, 400]) => ({
  name: "held-out",
  promptIds: ["short", "long"],
  inputTokens: [100, 200],
  models: [{ model: MODEL, outputTokens, label: [100, 0], judged: [83.4, 20] }],
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + LOAD_LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/health`)).status === 200;

/** An emulator with outcomes and one engine that is ready. */
async function served(timeScale?: number, tokens?: readonly [number, number]) {
  const one = await emulator(timeScale);
  await one.call("PUT", "/outcomes", outcomes(tokens));
  const { url } = (await (await one.call("POST", "/engines", engineOn(0))).json()) as EmulatedEngine;
  await until(() => isReady(url));
  return { ...one, engineUrl: url, client: new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 }) };
}

const ask = (prompt: string) => ({ model: MODEL, messages: [{ role: "user" as const, content: `[prompt ${prompt}] What is it?` }] });
const post = (url: string, body: unknown): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });

async function metric(url: string, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  const samples = parsePromText(await (await fetch(`${url}/metrics`)).text()).byName.get(name) ?? [];
  return samples.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))?.value;
}

describe("an emulated engine", () => {
  it("loads first, answers 503 meanwhile, and lists its model", async () => {
    const { call } = await emulator();
    const up = await call("POST", "/engines", engineOn(0));
    expect(up.status).toBe(202);
    const { url, state } = (await up.json()) as EmulatedEngine;
    expect(state).toBe("loading");
    expect((await fetch(`${url}/health`)).status).toBe(503);
    await until(() => isReady(url));
    const list = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; max_model_len: number }[] };
    expect(list.data.map((one) => one.id)).toEqual([MODEL]);
    expect(list.data[0]?.max_model_len).toBe(8192);
    expect(await (await fetch(`${url}/version`)).json()).toEqual({ version: "0.30.0+emulated" });
  });

  it("refuses without outcomes, for an unknown model and for a malformed request, each with an OpenAI error", async () => {
    const { call } = await emulator();
    const { url } = (await (await call("POST", "/engines", engineOn(0))).json()) as EmulatedEngine;
    await until(() => isReady(url));
    const cases: [unknown, number, RegExp][] = [
      [ask("short"), 503, /PUT \/outcomes/],
      [{ ...ask("short"), model: "gpt" }, 404, /`gpt` does not exist/],
      [{ model: MODEL }, 400, /Field messages/],
      [{ ...ask("short"), max_tokens: 0 }, 400, /Field max_tokens/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await post(url, body);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(message), code: status } });
    }
    expect((await fetch(`${url}/v1/chat/completions`, { method: "POST", body: "{" })).status).toBe(400);
  });

  it("answers with the tag and the tokens of the outcome row", async () => {
    const { client } = await served();
    const answer = await client.chat.completions.create(ask("short"));
    expect(answer.choices[0]?.message.content).toMatch(/^\[emulated answer short by gemma-2-2b\]( [a-z]+){39}$/);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 });
  });

  it("streams role, one event per token, finish reason, usage where asked for, and [DONE]", async () => {
    const { engineUrl } = await served();
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
    const { client } = await served();
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
    const { engineUrl } = await served(4, [40, 400]);
    const response = await post(engineUrl, { ...ask("long"), stream: true });
    const arrivals: number[] = [];
    for await (const _ of response.body ?? []) arrivals.push(performance.now());
    expect(arrivals.length).toBeGreaterThan(8);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(500);
  });

  it("exports everything that telemetry looks for under vLLM's names", async () => {
    const { client, engineUrl } = await served();
    await client.chat.completions.create(ask("short"));
    const metrics = parsePromText(await (await fetch(`${engineUrl}/metrics`)).text());
    const mapping = chooseMapping(metrics, "0.30.0+emulated");
    expect(metrics.badLines).toBe(0);
    expect(mapping?.engine).toBe("vllm");
    expect(mapping && readEngine(metrics, mapping)).toMatchObject({
      absent: [],
      running: 0,
      waiting: 0,
      kvUse: 0,
      finished: 1,
      promptTokens: 100,
      generationTokens: 40,
    });
  });

  it("stops at max_tokens with finish_reason length", async () => {
    const { client } = await served();
    const answer = await client.chat.completions.create({ ...ask("long"), max_tokens: 7 });
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.completion_tokens).toBe(7);
  });

  it("takes, with the truth off, exactly as long as the simulator says", async () => {
    const { client, engineUrl } = await served(2);
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
    const { engineUrl } = await served(4, [40, 7900]);
    const leave = new AbortController();
    const response = await fetch(`${engineUrl}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...ask("long"), stream: true }),
      signal: leave.signal,
    });
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 1);
    expect(await metric(engineUrl, "vllm:kv_cache_usage_perc")).toBeGreaterThan(0);
    leave.abort();
    await response.text().catch(() => undefined);
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 0);
    expect(await metric(engineUrl, "vllm:request_success_total", { finished_reason: "abort" })).toBe(1);
    expect(await metric(engineUrl, "vllm:request_success_total", { finished_reason: "stop" })).toBe(0);
  });

  it("ends an answer at the model's context length", async () => {
    const { client } = await served(1000, [40, 50_000]);
    const answer = await client.chat.completions.create(ask("long"));
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.total_tokens).toBe(modelCard(MODEL)?.maxContextTokens);
  });

  it("refuses a prompt longer than the model's context", async () => {
    const { call, engineUrl } = await served();
    await call("PUT", "/outcomes", { ...outcomes(), inputTokens: [100, 9000] });
    const answer = await post(engineUrl, ask("long"));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(/8192 tokens. The prompt has 9000/) } });
  });
});

describe("the emulated judge", () => {
  it("answers the judged score of the tagged answer as a bare integer, in about its fixed time", async () => {
    const { describe: read, call } = await emulator(1);
    await call("PUT", "/outcomes", outcomes());
    const { judge } = await read();
    const question = "[question] [prompt long] ... [answer] [emulated answer short by gemma-2-2b] the water";
    const started = performance.now();
    const answer = await post(judge.url, { model: judge.model, messages: [{ role: "user", content: question }] });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "83" }, finish_reason: "stop" }] });
    expect(performance.now() - started).toBeGreaterThan(150);
    expect(performance.now() - started).toBeLessThan(700);
  });

  it("scores untagged text by its hash: always the same integer from 0 to 100", async () => {
    const { describe: read, call } = await emulator(1000);
    await call("PUT", "/outcomes", outcomes());
    const { judge } = await read();
    const client = new OpenAI({ baseURL: `${judge.url}/v1`, apiKey: "none" });
    const score = async (content: string) =>
      (await client.chat.completions.create({ model: judge.model, messages: [{ role: "user", content }] })).choices[0]?.message.content;
    const first = await score("no tag here");
    expect(first).toMatch(/^\d+$/);
    expect(Number(first)).toBeLessThanOrEqual(100);
    expect(await score("no tag here")).toBe(first);
  });
});

describe("the admin listener", () => {
  it("needs the token, except for health", async () => {
    const { url } = await emulator();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/cluster`)).status).toBe(401);
    expect((await fetch(`${url}/cluster`, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("says what it pretends to be, and whether engines deviate from the plan", async () => {
    const { describe: read } = await emulator(5, true);
    expect(await read()).toMatchObject({ gpu: "l40s", timeScale: 5, truth: { enabled: true, seed: 1 }, outcomes: null, engines: [] });
  });

  it("refuses what cannot run and says why", async () => {
    const { call } = await emulator();
    await call("POST", "/engines", engineOn(0));
    const cases: [unknown, number, RegExp][] = [
      [engineOn(0, { id: "other" }), 409, /GPU n1\/0 is held by engine "e0"/],
      [engineOn(1, { id: "e0" }), 409, /engine "e0" already/],
      [engineOn(1, { model: "gpt-9" }), 400, /no model card "gpt-9"/],
      [engineOn(1, { gpu: "h100-sxm" }), 400, /has l40s GPUs, not "h100-sxm"/],
      [engineOn(1, { model: "llama-3.1-70b" }), 400, /needs 141\.\d GB of weights/],
      [engineOn(1, { placements: [{ node: "n9", gpus: [0] }] }), 400, /no node "n9": nodes are n1/],
      [engineOn(1, { placements: [{ node: "n1", gpus: [5] }] }), 400, /no GPU 5: its GPUs are 0 to 1/],
      [engineOn(1, { tp: 2 }), 400, /would cross nodes/],
      [engineOn(1, { placements: [{ node: "n1", gpus: [1, 1] }] }), 400, /takes 1 different GPUs/],
      [{ ...engineOn(1), id: "No Good" }, 400, /Field id/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await call("POST", "/engines", body);
      expect([answer.status, ((await answer.json()) as { error: { message: string } }).error.message]).toEqual([
        status,
        expect.stringMatching(message),
      ]);
    }
    expect((await call("DELETE", "/engines/none")).status).toBe(404);
    expect((await call("DELETE", "/engines/e0?graceSeconds=soon")).status).toBe(400);
    expect((await call("PUT", "/outcomes", { name: "x" })).status).toBe(400);
    expect((await call("GET", "/nothing")).status).toBe(404);
  });

  it("lets a stopping engine finish its requests, takes no new ones, and frees its GPU", async () => {
    const { call, client, engineUrl, describe: read } = await served(4, [40, 400]);
    const running = client.chat.completions.create(ask("long"));
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 1);
    const stopping = call("DELETE", "/engines/e0?graceSeconds=20");
    await until(async () => (await read()).engines[0]?.state === "stopping");
    expect((await post(engineUrl, ask("short"))).status).toBe(503);
    expect((await running).usage?.completion_tokens).toBe(400);
    expect((await stopping).status).toBe(204);
    expect((await read()).engines).toEqual([]);
    expect((await call("POST", "/engines", engineOn(0))).status).toBe(202);
  });

  it("cuts what is still open after the grace, with an error event in the stream", async () => {
    const { call, engineUrl } = await served(4, [40, 7900]);
    const stream = await post(engineUrl, { ...ask("long"), stream: true });
    const stopped = call("DELETE", "/engines/e0?graceSeconds=0.3");
    const text = await stream.text();
    expect(text).toContain('data: {"error":{"message":"The engine was stopped before the answer was complete."');
    expect((await stopped).status).toBe(204);
  });

  it("brings engines, ports and outcomes back after a restart", async () => {
    const before = await emulator();
    await before.call("PUT", "/outcomes", outcomes());
    await before.call("POST", "/engines", engineOn(1));
    await before.call("POST", "/engines", engineOn(0));
    const first = await before.describe();
    await shutAll();
    const again = await (await emulator()).describe();
    const places = (cluster: EmulatedCluster) => cluster.engines.map((engine) => [engine.id, engine.url]);
    expect(places(again)).toEqual(places(first));
    expect(again.judge).toEqual(first.judge);
    expect(again.outcomes).toEqual({ name: "held-out", prompts: 2 });
  });
});

describe("the emulated dcgm-exporter", () => {
  it("shows a busy GPU busy and full, and an empty one near zero", async () => {
    const { cluster, client } = await served(4, [40, 7900]);
    const running = client.chat.completions.create(ask("long")).catch(() => undefined);
    const gpus = () => readGpus(parsePromText(cluster.gpus.text()));
    await until(async () => (gpus()[0]?.utilisation ?? 0) > 0.9);
    const [busy, idle] = gpus();
    expect(busy).toMatchObject({ node: "n1", index: 0 });
    expect((busy?.memoryUsedBytes ?? 0) / (busy?.memoryTotalBytes ?? 1)).toBeCloseTo(0.9, 2);
    expect(idle).toMatchObject({ node: "n1", index: 1, utilisation: 0, memoryUsedBytes: 0 });
    expect(busy?.memoryTotalBytes).toBeGreaterThan(0.99 * (gpuCard("l40s")?.memoryBytes ?? 0));
    await shutAll();
    await running;
  });
});
