import { createHash } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type Answer, heldEngine, sayCompletion, startTestEngine, streamEvent } from "./testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, testConfig, until } from "./testing/testGateway";

/** The gateway's own series with their values. */
async function read({ adminUrl }: TestGateway): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("weir_gateway_"));
  return new Map(
    lines.map((line) => [line.slice("weir_gateway_".length, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

/** The series of one metric, without the name. */
async function seriesOf(gateway: TestGateway, name: string): Promise<Record<string, number>> {
  const all = [...(await read(gateway))].filter(([series]) => series.startsWith(`${name}{`));
  return Object.fromEntries(all.map(([series, value]) => [series.slice(name.length), value]));
}

const prices = {
  small: { usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 2 },
  large: { usdPerMillionInputTokens: 10, usdPerMillionOutputTokens: 20 },
};

describe("the gateway's metrics", () => {
  it("count tokens and cost of every stage by model, the judge's scores among the cost", async () => {
    const engine = await startTestEngine(({ body }, response) => sayCompletion(response, "4", String(body.model)));
    const judge = await startTestEngine((_, response) => sayCompletion(response, "10"));
    const gateway = await startTestGateway();
    const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
    await gateway.put(testConfig({ stages, thresholds: [70], judgeUrl: judge.url, settings: { prices } }));
    for (let request = 0; request < 3; request += 1) await (await gateway.chat({})).text();
    expect(await seriesOf(gateway, "tokens_total")).toEqual({
      '{model="small",direction="input"}': 21,
      '{model="small",direction="output"}': 9,
      '{model="large",direction="input"}': 21,
      '{model="large",direction="output"}': 9,
    });
    const cost = await seriesOf(gateway, "cost_usd_total");
    expect(cost['{model="small"}']).toBeCloseTo((3 * (7 + 6)) / 1e6, 12);
    expect(cost['{model="large"}']).toBeCloseTo((3 * (70 + 60)) / 1e6, 12);
    expect(cost['{model="weir-judge"}']).toBeCloseTo(0.003, 12);
    const total = (await gateway.decisions()).reduce((sum, { costUsd }) => sum + (costUsd ?? Number.NaN), 0);
    expect(Object.values(cost).reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(total, 12);
  });

  it("know the time of a token from streams whose engine counts, in engine seconds", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ content: "a" }));
      const usage = `data: ${JSON.stringify({ id: "1", choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } })}\n\n`;
      setTimeout(() => response.end(`${streamEvent({ content: "b" }, "stop")}${usage}data: [DONE]\n\n`), 400);
    });
    const gateway = await startTestGateway();
    await gateway.put({ ...oneModel([engine.url]), timeScale: 10 });
    await (await gateway.chat({ model: "large", stream: true, stream_options: { include_usage: true } })).text();
    const metrics = await read(gateway);
    expect(metrics.get('time_per_output_token_seconds_count{model="large"}')).toBe(1);
    const sum = metrics.get('time_per_output_token_seconds_sum{model="large"}') ?? 0;
    // 400 ms for the four tokens after the first, ten times as long on the engines' clock; the gateway may see the first token late.
    expect(sum).toBeGreaterThan(0.5);
    const [decision] = await gateway.decisions();
    expect(sum).toBeLessThanOrEqual((decision!.endToEndSeconds - decision!.ttftSeconds!) / 4);
  });

  it("keep the series of keys of the environment over many configurations", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const sha256 = createHash("sha256").update("s").digest("hex");
    const gateway = await startTestGateway({}, { startKeys: [{ name: "start", sha256 }] });
    for (let round = 1; round <= 3; round += 1) {
      await gateway.put({ ...oneModel([engine.url]), planId: `plan-${round}` });
      await (await gateway.chat({ model: "large" }, { headers: { authorization: "Bearer s" } })).text();
      expect(await seriesOf(gateway, "key_requests_total")).toEqual({ '{key="start",status="200"}': round });
    }
  });

  it("count what was shed by its class where the settings name it, and every request by its key", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ queuedPerModel: 1 });
    const key = (secret: string) => createHash("sha256").update(secret).digest("hex");
    const keys = [
      { name: "batch", sha256: key("b"), objective: "bulk" },
      { name: "app", sha256: key("a") },
      { name: "trial", sha256: key("t"), requestsPerMinute: 1 },
    ];
    const settings = { keys, priorityClasses: [{ name: "bulk", queueFraction: 0.5 }] };
    await gateway.put({ ...oneModel([engine.url], 1), settings });
    const ask = (secret: string, objective?: string, body: object = {}) =>
      gateway.chat(
        { ...body },
        { headers: { authorization: `Bearer ${secret}`, ...(objective !== undefined && { "x-gateway-inference-objective": objective }) } },
      );
    const taken = [ask("a")];
    await until(() => engine.asked.length === 1);
    taken.push(ask("a"));
    await until(async () => (await read(gateway)).get('queued{model="large"}') === 1);
    const statuses = await Promise.all([ask("b"), ask("a", "made-up"), ask("a")].map(async (answer) => (await answer).status));
    expect(statuses).toEqual([429, 429, 429]);
    expect((await ask("a", undefined, { messages: 5 })).status).toBe(400);
    expect((await ask("t", undefined, { model: "nobody" })).status).toBe(404);
    expect((await ask("t")).status).toBe(429);
    engine.open();
    for (const answer of await Promise.all(taken)) expect(answer.status).toBe(200);
    expect(await seriesOf(gateway, "shed_total")).toEqual({
      '{objective="bulk",status="429"}': 1,
      '{objective="other",status="429"}': 1,
      '{objective="none",status="429"}': 1,
    });
    expect(await seriesOf(gateway, "key_requests_total")).toEqual({
      '{key="app",status="200"}': 2,
      '{key="app",status="400"}': 1,
      '{key="app",status="429"}': 2,
      '{key="batch",status="429"}': 1,
      '{key="trial",status="404"}': 1,
      '{key="trial",status="429"}': 1,
    });
  });

  const half = (response: Parameters<Answer>[1]) => response.writeHead(200, { "content-type": "text/event-stream" });
  it.each<readonly [string, Answer]>([
    ["status-5xx", (_, response) => response.writeHead(500).end()],
    ["status-429", (_, response) => response.writeHead(429).end()],
    ["no-answer", (_, response) => response.writeHead(200).end("<html>")],
    ["no-answer", (_, response) => half(response).end()],
    ["connection", (_, response) => response.destroy()],
    ["silent", (_, response) => half(response).flushHeaders()],
    ["other", (_, response) => half(response).end('data: {"error":{"message":"no room for: my prompt"}}\n\n')],
  ])("say that calls were made again because of: %s", async (reason, answer) => {
    const engines = await Promise.all([startTestEngine(answer), startTestEngine(answer)]);
    const gateway = await startTestGateway({ attemptsPerStage: 2, streamSilenceSeconds: 0.1 });
    await gateway.put(oneModel(engines.map(({ url }) => url)));
    expect((await gateway.chat({ model: "large", stream: true })).status).toBe(reason === "status-429" ? 429 : 502);
    expect(await seriesOf(gateway, "retries_total")).toEqual({ [`{model="large",reason="${reason}"}`]: 1 });
  });

  it.each<readonly [string, Answer]>([
    ["failed", (_, response) => response.writeHead(500).end()],
    ["refused", (_, response) => response.writeHead(400).end()],
    ["no-score", (_, response) => sayCompletion(response, "good")],
    ["too-late", () => undefined],
  ])("say that the judge gave no score because of: %s", async (reason, answer) => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const judge = await startTestEngine(answer);
    const gateway = await startTestGateway({ judgeSeconds: 0.1 });
    const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
    await gateway.put(testConfig({ stages, thresholds: [70], judgeUrl: judge.url }));
    expect((await gateway.chat({})).status).toBe(200);
    expect(await seriesOf(gateway, "judge_failures_total")).toEqual({ [`{reason="${reason}"}`]: 1 });
    expect((await gateway.decisions())[0]?.stages[0]?.unscored).toBe(reason);
  });

  it("tell requests that had their time from those whose client went away", async () => {
    const engine = await startTestEngine(() => undefined);
    const gateway = await startTestGateway({ requestSeconds: 0.2 });
    await gateway.put(oneModel([engine.url]));
    const leaving = new AbortController();
    const left = gateway.chat({}, { signal: leaving.signal }).catch(() => null);
    await until(() => engine.asked.length === 1);
    leaving.abort();
    await left;
    expect((await gateway.chat({})).status).toBe(504);
    const ended = async () => seriesOf(gateway, "aborted_total");
    await until(async () => Object.keys(await ended()).length === 2);
    expect(await ended()).toEqual({ '{reason="client-gone"}': 1, '{reason="deadline"}': 1 });
    expect(await seriesOf(gateway, "ended_total")).toEqual(await ended());
  });

  it("tell the requests of a canary's candidate from those of the policy in force", async () => {
    const engine = await startTestEngine(({ body }, response) => sayCompletion(response, "x", String(body.model)));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url], 64));
    const policy = { kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "round-robin" } } as const;
    const canary = {
      candidate: { planId: "plan-new", ...hashed(policy) },
      shares: [0.5, 1],
      stepSeconds: 1000,
      minRequests: 1,
      stop: { errorShare: 0.5, slow: null },
      by: "ada",
      reason: "",
    };
    expect(
      (
        await fetch(`${gateway.adminUrl}/canary`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(canary),
        })
      ).status,
    ).toBe(200);
    for (let program = 0; program < 40; program += 1) await (await gateway.chat({})).text();
    const ofCandidate = (await gateway.decisions()).filter((decision) => decision.canary).length;
    expect(ofCandidate).toBeGreaterThan(5);
    expect(await seriesOf(gateway, "requests_total")).toEqual({
      '{served="canary",status="200"}': ofCandidate,
      '{served="cascade/test",status="200"}': 40 - ofCandidate,
    });
  });

  it("name the plan and the policy in force, and those alone", async () => {
    const gateway = await startTestGateway();
    expect(await seriesOf(gateway, "info")).toEqual({});
    for (const planId of ["plan-a", "plan-b"]) {
      const config = testConfig({ stages: [{ model: "large", urls: ["http://127.0.0.1:9"] }], planId });
      await gateway.put(config);
      expect(await seriesOf(gateway, "info")).toEqual({ [`{plan="${planId}",policy="${config.policyHash}"}`]: 1 });
    }
  });
});

/** The number of series, without Node's own: those of a garbage collector appear when it first runs. */
async function count(gateway: TestGateway): Promise<number> {
  return (await read(gateway)).size;
}

describe("the number of series", () => {
  it("stays as it is under hundreds of odd requests", async () => {
    const engine = await startTestEngine(({ body }, response) => {
      if (body.fail === true) response.writeHead(500).end();
      else sayCompletion(response, "x");
    });
    const gateway = await startTestGateway({ bodyBytes: 2000, attemptsPerStage: 1 });
    const config = oneModel([engine.url], 64);
    const shut = { id: "shut-0", model: "shut", url: engine.url, state: "cordoned" as const, maxInFlight: 1 };
    await gateway.put({ ...config, replicas: [...config.replicas, shut] });
    let seed = 0;
    const odd = (): Promise<unknown> => {
      seed += 1;
      const word = `w${seed}-${'é\\"\n{}'.repeat(seed % 5)}`;
      const ascii = `w${seed}`;
      const headers = {
        "x-gateway-inference-objective": ascii,
        "x-session-id": ascii,
        "x-request-id": ascii,
        authorization: `Bearer ${ascii}`,
        "x-weir-router-scores": `${ascii}=5`,
        traceparent: ascii,
        "user-agent": ascii,
      };
      const messages = [{ role: word, content: word }];
      const kinds = [
        () => gateway.post("/v1/chat/completions", { model: word, messages }, headers),
        () => gateway.post("/v1/chat/completions", { model: "large", messages, [word]: word }, headers),
        () => gateway.post("/v1/chat/completions", { model: "cascade/test", messages, user: word }, headers),
        () => gateway.post("/v1/chat/completions", { model: "shut", messages }, headers),
        () => gateway.post(`/v1/${ascii}`, { model: word }, headers),
        () => gateway.post("/v1/embeddings", { model: "large", input: word }, headers),
        () => gateway.post("/v1/completions", { model: "large" }, headers),
        () => gateway.post("/v1/chat/completions", { model: "large", messages, x: word.repeat(500) }, headers),
        () => gateway.post("/v1/chat/completions", { model: "large", messages }, { "x-weir-program-tokens": ascii }),
        () => fetch(`${gateway.dataUrl}/v1/models/${ascii}`),
        () =>
          fetch(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: word }),
        () =>
          rawRequest(gateway, `POST /v1/chat/completions?${ascii} HTTP/1.1\r\nhost: ${ascii}\r\n${ascii}: 1\r\ncontent-length: 1\r\n\r\nx`),
      ];
      return (kinds[seed % kinds.length] as () => Promise<unknown>)();
    };
    const many = async (requests: number): Promise<void> => {
      for (let sent = 0; sent < requests; sent += 50) await Promise.all(Array.from({ length: 50 }, odd));
    };
    await many(200);
    const before = await count(gateway);
    // Fifty of each kind: every label that follows what a request says would add as many series.
    await many(600);
    expect(await count(gateway)).toBe(before);
    const text = [...(await read(gateway)).keys()].join("\n");
    expect(text).not.toMatch(/w\d/);
  }, 60_000);

  it("stays bounded over many plans with other names, models, engines and keys", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "x"));
    const gateway = await startTestGateway();
    const plan = (index: number): GatewayConfig => {
      const secret = createHash("sha256").update(`k${index}`).digest("hex");
      const model = `model-${index}`;
      const settings = {
        keys: [{ name: `key-${index}`, sha256: secret }],
        priorityClasses: [{ name: `class-${index}`, queueFraction: 0.5 }],
        prices: { [model]: { usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 1 } },
      };
      return { ...testConfig({ stages: [{ model, urls: [engine.url] }], planId: `plan-${index}`, settings }), name: `name-${index}` };
    };
    const sizes: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      await gateway.put(plan(index));
      const headers = { authorization: `Bearer k${index}`, "x-gateway-inference-objective": `class-${index}` };
      for (const model of ["cascade/default", `model-${index}`])
        expect((await gateway.post("/v1/completions", { model, prompt: "x" }, headers)).status).toBe(200);
      sizes.push(await count(gateway));
    }
    expect(new Set(sizes.slice(20))).toEqual(new Set([sizes[20]]));
    const names = [...(await read(gateway)).keys()].join("\n");
    for (const kept of ["key-59", "name-59", "model-59", "key-52"]) expect(names).toContain(kept);
    for (const gone of ["key-40", "name-40", "model-40"]) expect(names).not.toContain(gone);
  }, 60_000);
});

function rawRequest({ dataUrl }: TestGateway, text: string): Promise<void> {
  const { hostname, port } = new URL(dataUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
    socket.once("data", () => socket.destroy());
  });
}
