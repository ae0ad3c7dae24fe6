import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { OrderDocument, PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { MOST_WEIGHED, type Policy, type WaitingWork } from "@/solver/policies/core/policy";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";
import { PolicyDriver } from "./policyDriver";

const noOutage = () => ({ isLost: () => false, lowerMayAnswer: true });

const slack: SlackPolicy = {
  kind: "slack",
  models: [
    { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.4 },
    { model: "large", decodeSecondsPerToken: 0.02, maxBatchSize: 10, confidence: 0.8 },
  ],
  tau: 0,
  deltaScore: 0.1,
  floorSeconds: 1,
  order: { kind: "stjf", agingThreshold: 100 },
  place: { kind: "least-load", affinity: { ratio: 0.5 } },
  approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
};

/** Engines of small and large models under a policy. */
function configOf(policy: PolicyDocument, urls: Record<string, string>, maxInFlight = 8): GatewayConfig {
  const stages = Object.entries(urls).map(([model, url]) => ({ model, urls: [url] }));
  return { ...testConfig({ stages, maxInFlight }), ...hashed(policy) };
}

async function queuedForLarge({ adminUrl }: TestGateway): Promise<number> {
  return gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).queued.large ?? 0;
}

describe("policies in the gateway", () => {
  it("release the request that asks for the fewest tokens first under shortest job first", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway();
    const order = { kind: "sjf", agingThreshold: 100 } as const;
    await gateway.put(configOf({ kind: "fixed", model: "large", order, place: { kind: "round-robin" } }, { large: engine.url }, 1));
    const first = gateway.chat({ max_tokens: 900 });
    await until(() => engine.asked.length === 1);
    const queued = [{ max_tokens: 500 }, { max_completion_tokens: 20 }, { max_tokens: 60 }].map((body) => gateway.chat(body));
    await until(async () => (await queuedForLarge(gateway)) === 3);
    engine.open();
    for (const answer of await Promise.all([first, ...queued])) expect(answer.status).toBe(200);
    const asked = engine.asked.map(({ body }) => body.max_tokens ?? body.max_completion_tokens);
    expect(asked).toEqual([900, 20, 60, 500]);
  });

  it("count a streamed answer from its first token on under feedback over levels, not what it waited for that in its engine", async () => {
    const [pause, held] = [() => sleep(400), await heldEngine()];
    const engine = await startTestEngine(async ({ body }, response) => {
      if (body.stream !== true)
        return void (await fetch(held.url, { method: "POST", body: "{}" }).then(() => sayCompletion(response, "late")));
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (body.max_tokens === 1) await pause();
      response.write(streamEvent({ content: "An " }));
      if (body.max_tokens === 2) await pause();
      response.end(`${streamEvent({ content: "answer." }, "stop")}data: [DONE]\n\n`);
    });
    const gateway = await startTestGateway();
    const order: OrderDocument = { kind: "mlfq", quantaSeconds: [0.2], agingThreshold: 100 };
    await gateway.put(configOf({ kind: "fixed", model: "large", order, place: { kind: "round-robin" } }, { large: engine.url }, 1));
    const ask = async (session: string, more: Record<string, unknown>) => {
      const body = { model: "cascade/test", messages: [{ role: "user", content: session }], ...more };
      return (await gateway.post("/v1/chat/completions", body, { "x-session-id": session })).text();
    };
    await ask("waits", { stream: true, max_tokens: 1 });
    await ask("served", { stream: true, max_tokens: 2 });
    const first = ask("another", {});
    await until(() => held.asked.length === 1);
    const queued: Promise<string>[] = [];
    for (const session of ["served", "waits"]) {
      queued.push(ask(session, {}));
      await until(async () => (await queuedForLarge(gateway)) === queued.length);
    }
    held.open();
    await Promise.all([first, ...queued]);
    const asked = engine.asked.map(({ body }) => (body.messages as readonly { readonly content: string }[])[0]?.content);
    expect(asked.slice(3)).toEqual(["waits", "served"]);
  });

  it("keep a session at its model while new sessions go to the one that is less loaded", async () => {
    const [small, large] = [await startTestEngine((_, response) => sayCompletion(response, "small")), await heldEngine()];
    const gateway = await startTestGateway();
    await gateway.put(configOf(slack, { small: small.url, large: large.url }));
    const body = { model: "cascade/test", messages: [{ role: "user", content: "Plan, then code." }], max_tokens: 600 };
    const ask = (session: string) => gateway.post("/v1/chat/completions", body, { "x-session-id": session });
    const first = ask("one");
    await until(() => large.asked.length === 1);
    expect((await ask("two")).headers.get("x-weir-model")).toBe("small");
    const again = ask("one");
    await until(() => large.asked.length === 2);
    large.open();
    const models = (await Promise.all([first, again])).map((answer) => answer.headers.get("x-weir-model"));
    expect(models).toEqual(["large", "large"]);
    expect((await ask("three")).headers.get("x-weir-model")).toBe("large");
    const reasons = (await gateway.decisions()).map(({ startReason }) => startReason).sort();
    expect(reasons).toEqual(["least-loaded", "least-loaded", "least-loaded", "program-keeps-its-model"]);
  });
});

describe("admission under a policy that judges nothing", () => {
  it("sheds for the queue of the model a request goes to, and for no other's", async () => {
    const [small, large] = [await startTestEngine((_, response) => sayCompletion(response, "small")), await heldEngine()];
    const gateway = await startTestGateway({ queuedPerModel: 1 });
    await gateway.put(configOf(slack, { small: small.url, large: large.url }, 1));
    const body = { model: "cascade/test", messages: [{ role: "user", content: "Plan, then code." }], max_tokens: 600 };
    const ask = (session: string) => gateway.post("/v1/chat/completions", body, { "x-session-id": session });
    const served = ask("one");
    await until(() => large.asked.length === 1);
    const queued = ask("one");
    await until(async () => (await queuedForLarge(gateway)) === 1);
    expect((await ask("one")).status).toBe(429);
    const other = await ask("two");
    expect([other.status, other.headers.get("x-weir-model")]).toEqual([200, "small"]);
    large.open();
    expect((await Promise.all([served, queued])).map(({ status }) => status)).toEqual([200, 200]);
  });
});

const work = { id: "w", programId: "p", stage: 0, inputTokens: 10 };

/** A driver whose policy holds all work and requests the next call at `again`, with the times of the calls. */
function holding(again: (nowSeconds: number) => number, { timeScale = 1 } = {}) {
  const decisions: number[] = [];
  let waiting: readonly WaitingWork[] = [];
  let next: number | null = null;
  const place = { kind: "least-load" } as const;
  const policy: Policy = {
    ...buildPolicy({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place }),
    decide(view) {
      decisions.push(view.nowSeconds);
      waiting = view.waiting;
      next = again(view.nowSeconds);
      return [];
    },
    askAgainSeconds: () => next,
  };
  const queued = new Map<string, number>();
  const driver = new PolicyDriver({ policy, replicas: () => [], outage: noOutage, timeScale, queued, onRoom: () => undefined });
  const pauses = () => decisions.slice(1).map((seconds, at) => seconds - (decisions[at] ?? 0));
  return { driver, decisions, pauses, queued, seen: () => waiting.map(({ forecast }) => forecast) };
}

describe("PolicyDriver", () => {
  it("tells the policy of work that is given up in the queue, so that its load is not counted for ever", async () => {
    const options = { replicas: () => [], outage: noOutage, timeScale: 1, queued: new Map<string, number>(), onRoom: () => undefined };
    const driver = new PolicyDriver({ policy: buildPolicy(slack), ...options });
    const replicas = ["small", "large"].map((model) => {
      return { id: model, model, inFlight: 0, maxInFlight: 8, accepting: true, kvUse: { state: "absent" as const } };
    });
    const start = () =>
      driver.policy.start({ programId: "new", inputTokens: 10, routerScores: () => undefined, replicas, judgeResting: false }).stage;
    const leaving = new AbortController();
    expect(start()).toBe(1);
    const grant = driver.queue({ ...work, stage: 1, predictedTokens: 5000 }, leaving.signal);
    expect(start()).toBe(0);
    leaving.abort();
    expect((await grant).kind).toBe("aborted");
    expect(start()).toBe(1);
  });

  it("asks again about what is held back although there is room, when the policy says, until nothing waits", async () => {
    const { driver, decisions, pauses, queued } = holding((nowSeconds) => nowSeconds + 0.05);
    const leaving = new AbortController();
    const held = ["a", "b"].map((id) => driver.queue({ ...work, id }, leaving.signal));
    await until(() => decisions.length >= 5);
    expect(queued.get("large")).toBe(2);
    expect(Math.min(...pauses().slice(1))).toBeGreaterThanOrEqual(0.049);
    leaving.abort();
    expect((await Promise.all(held)).map(({ kind }) => kind)).toEqual(["aborted", "aborted"]);
    const asked = decisions.length;
    await sleep(150);
    expect([decisions.length, queued.get("large")]).toEqual([asked, 0]);
  });

  it("asks again soon where held work is given up, since other work may have waited for that", async () => {
    const { driver, decisions } = holding((nowSeconds) => nowSeconds + 1000);
    const leaving = [new AbortController(), new AbortController()];
    const held = leaving.map(({ signal }, at) => driver.queue({ ...work, id: String(at) }, signal));
    expect(decisions.length).toBe(2);
    leaving[0]!.abort();
    await until(() => decisions.length === 3);
    leaving[1]!.abort();
    expect((await Promise.all(held)).map(({ kind }) => kind)).toEqual(["aborted", "aborted"]);
  });

  it("leaves some milliseconds between two questions, however short the policy's slots are on a fast clock", async () => {
    const timeScale = 5000;
    const { driver, pauses } = holding((nowSeconds) => nowSeconds + 0.5, { timeScale });
    const leaving = new AbortController();
    const held = driver.queue(work, leaving.signal);
    await until(() => pauses().length >= 5);
    expect(Math.min(...pauses())).toBeGreaterThanOrEqual(0.009 * timeScale);
    leaving.abort();
    await held;
  });

  it("fails what waits where the policy fails when it is asked again, and goes on", async () => {
    const { driver, decisions, queued } = holding((nowSeconds) => {
      if (decisions.length === 3) throw new Error("a bug");
      return nowSeconds + 0.02;
    });
    const { signal } = new AbortController();
    const held = ["a", "b"].map((id) => driver.queue({ ...work, id }, signal));
    expect((await Promise.allSettled(held)).map((one) => one.status === "rejected" && String(one.reason))).toEqual([
      "Error: a bug",
      "Error: a bug",
    ]);
    expect([queued.get("large"), driver.oldestSeconds]).toEqual([0, undefined]);
    const leaving = new AbortController();
    const again = driver.queue(work, leaving.signal);
    expect(decisions.length).toBe(4);
    leaving.abort();
    expect(await again).toEqual({ kind: "aborted" });
  });

  it("shows the policy what was learnt of the agent, as it was when the work joined the queue", async () => {
    const { driver, seen } = holding((nowSeconds) => nowSeconds + 1);
    const forecast = { agent: "qa/router", distanceSeconds: 3, remainingCalls: 2, requestSeconds: 1, tokensPerSecond: 40 };
    const leaving = new AbortController();
    const held = driver.queue({ ...work, forecast }, leaving.signal);
    expect(seen()).toEqual([forecast]);
    leaving.abort();
    await held;
  });

  it("gives waiting work the forecasts in force as soon as they change, once each, and says when it did", async () => {
    const listed: (number | undefined)[][] = [];
    const forecastOf = (distanceSeconds: number) => ({
      ...{ agent: "qa/router", remainingCalls: 2, requestSeconds: 1, tokensPerSecond: 40 },
      distanceSeconds,
    });
    let revision = 0;
    const policy: Policy = {
      ...buildPolicy({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } }),
      decide(view) {
        listed.push(view.waiting.map(({ forecast }) => forecast?.distanceSeconds));
        return [];
      },
    };
    const driver = new PolicyDriver({
      ...{ policy, replicas: () => [], outage: noOutage, timeScale: 1, queued: new Map(), onRoom: () => undefined },
      forecastRevision: () => revision,
    });
    const leaving = new AbortController();
    const told: number[] = [];
    const reforecast = (nowSeconds: number) => {
      told.push(nowSeconds);
      return forecastOf(10 * revision + told.length);
    };
    const held = [driver.queue({ ...work, id: "a", forecast: forecastOf(99), reforecast }, leaving.signal)];
    held.push(driver.queue({ ...work, id: "b", forecast: forecastOf(5) }, leaving.signal));
    driver.pump(performance.now());
    revision = 1;
    driver.pump(performance.now());
    driver.pump(performance.now());
    expect(listed).toEqual([[1], [1, 5], [1, 5], [12, 5], [12, 5]]);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    leaving.abort();
    await Promise.all(held);
  });

  it("shows a policy that chooses models all that waits, in the order in which programs began", async () => {
    const listed: string[][] = [];
    const policy: Policy = {
      ...buildPolicy({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } }),
      choosesModel: true,
      decide(view) {
        listed.push(view.waiting.map(({ id }) => id));
        return [];
      },
    };
    const driver = new PolicyDriver({
      policy,
      replicas: () => [],
      outage: noOutage,
      timeScale: 1,
      queued: new Map(),
      onRoom: () => undefined,
    });
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const came = [30, 10, 20, 10].map((programArrivalSeconds, at) => ({ programArrivalSeconds, queuedSinceSeconds: 40 - at }));
    const held = came.map((times, at) => driver.queue({ ...work, id: String(at), ...times }, leaving.signal));
    expect(listed.at(-1)).toEqual(["1", "3", "2", "0"]);
    expect(driver.oldestSeconds).toBe(37);
    const more = Array.from({ length: 2 * MOST_WEIGHED }, (_, at) =>
      driver.queue({ ...work, id: `later ${at}`, programArrivalSeconds: 50, queuedSinceSeconds: 50 }, leaving.signal),
    );
    expect(listed.at(-1)?.slice(0, 5)).toEqual(["1", "3", "2", "0", "later 0"]);
    expect(listed.at(-1)).toHaveLength(4 + 2 * MOST_WEIGHED);
    leaving.abort();
    await Promise.all([...held, ...more]);
    expect(driver.oldestSeconds).toBeUndefined();
  });

  it("gives the place in the queue back of work whose policy fails", async () => {
    const policy = { ...buildPolicy(slack), needs: [], observe: () => undefined };
    Object.assign(policy, {
      modelOfStage: () => "large",
      decide: () => {
        throw new Error("a bug");
      },
    });
    const queued = new Map<string, number>();
    const driver = new PolicyDriver({ policy, replicas: () => [], outage: noOutage, timeScale: 1, queued, onRoom: () => undefined });
    await expect(driver.queue(work, new AbortController().signal)).rejects.toThrow("a bug");
    expect([queued.get("large"), driver.oldestSeconds]).toEqual([0, undefined]);
  });
});
