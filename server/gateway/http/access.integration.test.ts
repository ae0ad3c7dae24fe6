import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

const sha256 = (secret: string) => createHash("sha256").update(secret).digest("hex");
const body = { model: "large", messages: [{ role: "user", content: "?" }] };
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const errorOf = async (answer: Response) => ((await answer.json()) as { error: { message: string; code: string } }).error;

async function guarded(settings: GatewaySettings) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway();
  await gateway.put({ ...oneModel([engine.url]), settings });
  const ask = (headers: Record<string, string> = {}) => gateway.post("/v1/chat/completions", body, headers);
  return { ...gateway, ask, engine };
}

describe("API keys", () => {
  const keys = [{ name: "team-a", sha256: sha256("secret-a") }];

  it("are asked for once some are set, on every path of the API but not on health", async () => {
    const { ask, engine, dataUrl } = await guarded({ keys });
    for (const headers of [{}, bearer("wrong"), bearer(""), { authorization: "Basic secret-a" }, bearer(sha256("secret-a"))]) {
      const answer = await ask(headers);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await errorOf(answer)).toMatchObject({ code: "invalid_api_key", type: "authentication_error" });
    }
    for (const path of ["/v1/models", "/v1/models/large", "/v1/responses"]) expect((await fetch(`${dataUrl}${path}`)).status).toBe(401);
    expect((await fetch(`${dataUrl}/health/ready`)).status).toBe(200);
    expect(engine.asked).toHaveLength(0);
  });

  it("let their holder in by the official client, stand by name in the record, and stay at the gateway", async () => {
    const { dataUrl, engine, decisions } = await guarded({ keys });
    const client = new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "secret-a", maxRetries: 0 });
    expect((await client.models.list()).data).toHaveLength(3);
    await client.chat.completions.create({ model: "large", messages: [{ role: "user", content: "?" }] });
    expect(engine.asked[0]?.headers.authorization).toBeUndefined();
    const records = await decisions();
    expect(records[0]?.key).toBe("team-a");
    expect(JSON.stringify(records)).not.toContain("secret-a");
    await expect(new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "x", maxRetries: 0 }).models.list()).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
  });

  it("are not needed where none are set, and a client's own goes on to the engine", async () => {
    const { ask, engine } = await guarded({});
    expect((await ask(bearer("engine-key"))).status).toBe(200);
    expect(engine.asked[0]?.headers.authorization).toBe("Bearer engine-key");
  });

  it("stay in force when a plan is applied whose configuration says nothing of them, until they are cleared", async () => {
    const { ask, put, adminUrl, engine } = await guarded({ keys });
    await put(testConfig({ stages: [{ model: "large", urls: [engine.url] }], planId: "plan-b" }));
    expect((await ask()).status).toBe(401);
    expect(await (await fetch(`${adminUrl}/config`)).json()).toMatchObject({ planId: "plan-b", settings: { keys } });
    await put({ ...oneModel([engine.url]), settings: {} });
    expect((await ask()).status).toBe(200);
  });

  it.each<[string, unknown, string]>([
    ["name a class that is not listed", { keys: [{ ...keys[0], objective: "batch" }] }, "The API key team-a belongs to the class batch"],
    ["have one name twice", { keys: [keys[0], { name: "team-a", sha256: sha256("b") }] }, "Two API keys are called team-a"],
    ["are one secret under two names", { keys: [keys[0], { ...keys[0], name: "team-b" }] }, "Two API keys have the SHA-256"],
    ["stand there as they are", { keys: [{ name: "team-a", sha256: "secret-a" }] }, "sha256"],
    ["are none", { keys: [] }, "keys"],
    ["are misspelt", { key: keys }, "key"],
  ])("are refused when they %s, and nothing changes", async (_, settings, reason) => {
    const gateway = await startTestGateway();
    const config = { ...oneModel(["http://127.0.0.1:9"]), settings } as Parameters<typeof gateway.put>[0];
    await expect(gateway.put(config)).rejects.toThrow(reason);
    expect((await fetch(`${gateway.adminUrl}/config`)).status).toBe(404);
  });
});

describe("a key's rate", () => {
  it("lets a minute's worth through and then says how long the next one takes", async () => {
    const keys = [
      { name: "slow", sha256: sha256("slow"), requestsPerMinute: 3 },
      { name: "free", sha256: sha256("free") },
    ];
    const { ask, put, engine, dataUrl } = await guarded({ keys });
    const statuses = [];
    for (let request = 0; request < 4; request += 1) statuses.push(await ask(bearer("slow")));
    expect(statuses.map((answer) => answer.status)).toEqual([200, 200, 200, 429]);
    const last = statuses[3];
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThanOrEqual(19);
    expect(Number(last?.headers.get("retry-after"))).toBeLessThanOrEqual(20);
    if (last) expect(await errorOf(last)).toMatchObject({ code: "rate_limit_exceeded" });
    expect((await ask(bearer("free"))).status).toBe(200);
    // Listing models costs nothing, and a new configuration does not reset the minute.
    expect((await fetch(`${dataUrl}/v1/models`, { headers: bearer("slow") })).status).toBe(200);
    await put(testConfig({ stages: [{ model: "large", urls: [engine.url] }], planId: "plan-b" }));
    expect((await ask(bearer("slow"))).status).toBe(429);
  });
});

describe("classes of work", () => {
  it("are shed one after the other as the queue fills, by the key's class before the request's own", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ queuedPerModel: 4 });
    const keys = [
      { name: "batch", sha256: sha256("batch"), objective: "batch" },
      { name: "any", sha256: sha256("any") },
    ];
    const priorityClasses = [
      { name: "batch", queueFraction: 0.25 },
      { name: "chat", queueFraction: 0.75 },
    ];
    await gateway.put({ ...oneModel([engine.url], 1), settings: { keys, priorityClasses } });
    const ask = (key: string, objective?: string) =>
      gateway.post("/v1/chat/completions", body, {
        ...bearer(key),
        ...(objective === undefined ? {} : { "x-gateway-inference-objective": objective }),
      });
    const taken: Promise<Response>[] = [];
    const queued = async () =>
      ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> }).queued.large;
    const take = async (...who: Parameters<typeof ask>) => {
      const before = taken.push(ask(...who)) - 1;
      await until(async () => engine.asked.length === 1 && (await queued()) === before);
    };
    await take("any");
    await take("batch");
    const shed = await ask("batch", "chat");
    expect([shed.status, (await errorOf(shed)).message]).toEqual([
      429,
      "1 requests wait for large; a request of the class batch is admitted only while fewer than 1 wait.",
    ]);
    await take("any", "chat");
    await take("any", "chat");
    expect((await ask("any", "chat")).status).toBe(429);
    await take("any", "unheard-of");
    expect((await ask("any")).status).toBe(429);
    engine.open();
    expect((await Promise.all(taken)).map((answer) => answer.status)).toEqual(Array(5).fill(200));
    const records = await gateway.decisions();
    expect(records.map(({ objective, status }) => [objective, status])).toContainEqual(["batch", 429]);
  });
});

describe("Retry-After", () => {
  it("is the time in which the queue is served at the rate of the last answers", async () => {
    const queued = 30;
    let held: ServerResponse | null = null;
    const engine = await startTestEngine(({ body: { user } }, response) => {
      if (user === "queued") held = response;
      else setTimeout(() => sayCompletion(response, "4"), 100);
    });
    const gateway = await startTestGateway({ queuedPerModel: queued });
    await gateway.put(oneModel([engine.url], 1));
    const ask = (user: string) => gateway.post("/v1/chat/completions", { ...body, user });
    const startMs = performance.now();
    for (let request = 0; request < 5; request += 1) await ask("quick");
    // One is at the engine, which holds it, and thirty wait.
    const answers = Array.from({ length: queued + 1 }, () => ask("queued"));
    await until(async () => held !== null && (await (await fetch(`${gateway.adminUrl}/status`)).text()).includes(`"large":${queued}`));
    const shed = await ask("queued");
    const allMs = performance.now() - startMs;
    expect(shed.status).toBe(429);
    // Four answers followed the first, at intervals of 100 ms: at best thirty take 3 s. On a busy machine all steps here were slower.
    const seconds = Number(shed.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(3);
    expect(seconds).toBeLessThanOrEqual(Math.ceil((queued * allMs) / 1000 / 4));
    await gateway.close();
    await Promise.all(answers);
  });

  it("tells of an engine that is down when it is looked at next", async () => {
    const dead = await startTestEngine(() => undefined);
    await dead.close();
    const gateway = await startTestGateway();
    await gateway.put(oneModel([dead.url]));
    const pending = gateway.chat({});
    let refused: Response | null = null;
    await until(async () => {
      refused = await gateway.chat({}, { signal: AbortSignal.timeout(50) }).catch(() => null);
      return refused?.status === 503;
    });
    expect((refused as Response | null)?.headers.get("retry-after")).toBe("1");
    await gateway.close();
    await pending;
  });
});
