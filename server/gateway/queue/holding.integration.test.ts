import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Decision, type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import type { OrderDocument } from "@/solver/plan/policySchema";
import { SLOT_SECONDS } from "@/solver/policies/places/memoryTimeline";
import { MOST_PASSES } from "@/solver/policies/waiting/heldWork";
import type { GatewayLimits } from "../http/limits";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";
import { panic } from "../testing/testPanic";

/** Slots that do not pass while a test runs: held work is then released for other reasons only. */
const nearlyStill = 0.001;

/** A configuration that packs requests into engines by their memory. */
function packed(urls: readonly string[], { order = { kind: "fcfs" } as OrderDocument, timeScale = nearlyStill } = {}): GatewayConfig {
  return { ...oneModel(urls), timeScale, ...hashed({ kind: "fixed", model: "large", order, place: { kind: "time-slots" } }) };
}

/** A prompt that engines answer at once. */
const probe = "probe";

/** An engine that reports its cache size and preemptions, and answers on the test's command. */
async function engineOf(kvTokens: number) {
  const held = new Map<string, () => void>();
  const engine = await startTestEngine(({ body }, response) => {
    const [message] = body.messages as readonly { readonly content: string }[];
    const name = (message?.content ?? "").split(" ", 1)[0] ?? "";
    if (name === probe) sayCompletion(response, "done");
    else held.set(name, () => sayCompletion(response, "done"));
  });
  let preemptions = 0;
  let reads = 0;
  engine.pages.set("/metrics", (response) => {
    reads += 1;
    response.end(
      `vllm:kv_cache_usage_perc 0.2\nvllm:num_preemptions_total ${preemptions}\nvllm:cache_config_info{block_size="1",num_gpu_blocks="${kvTokens}"} 1\n`,
    );
  });
  return {
    url: engine.url,
    reads: () => reads,
    preempt: (count: number) => {
      preemptions += count;
    },
    /** Names of the requests that arrived, in order. */
    came: () => [...held.keys()],
    answer: (...names: readonly string[]) => {
      for (const name of names) held.get(name)?.();
    },
  };
}

/** A request with a prompt of about so many tokens, as the gateway counts them. */
function ask(gateway: TestGateway, name: string, { tokens, init, ...body }: { tokens: number; init?: RequestInit; max_tokens?: number }) {
  const content = `${name} `.padEnd(4 * tokens - 100, "x");
  return gateway.chat({ messages: [{ role: "user", content }], ...body }, init);
}

async function statusOf({ adminUrl }: TestGateway) {
  return gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json());
}

const queued = async (gateway: TestGateway): Promise<number> => (await statusOf(gateway)).queued.large ?? 0;
async function recordOf(gateway: TestGateway, answer: Response): Promise<Decision> {
  return (await (await fetch(`${gateway.adminUrl}/decisions/${answer.headers.get("x-weir-decision-id")}`)).json()) as Decision;
}

/** A gateway under the configuration that knows its engines' memory. */
async function startPacking(config: GatewayConfig, limits: Partial<GatewayLimits> = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(limits);
  await gateway.put(config);
  await until(async () => (await recordOf(gateway, await ask(gateway, probe, { tokens: 50 }))).degraded?.length === 0);
  return gateway;
}

describe("requests that the memory of no engine has room for", () => {
  it("are held back although engines take more at once, and go in order as others end", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]));
    const names = ["a", "b", "c", "d", "e"];
    const answers: Promise<Response>[] = [];
    for (const [at, name] of names.entries()) {
      answers.push(ask(gateway, name, { tokens: 1000 }));
      await until(async () => engine.came().length + (await queued(gateway)) === at + 1);
    }
    const status = await statusOf(gateway);
    expect([engine.came(), status.queued.large, status.replicas[0]?.inFlight]).toEqual([["a", "b"], 3, 2]);
    const { memory } = gatewayWorkflowsSchema.parse(await (await fetch(`${gateway.adminUrl}/workflows`)).json());
    expect(memory?.replicas).toMatchObject([{ replicaId: "large-0", capacityTokens: 2500, requests: [{}, {}] }]);
    expect(memory?.next.map(({ replicaId }) => replicaId)).toEqual([null, null, null]);
    engine.answer("b");
    await until(() => engine.came().length === 3);
    engine.answer("a");
    await until(() => engine.came().length === 4);
    engine.answer("c", "d");
    await until(() => engine.came().length === 5);
    engine.answer("e");
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    expect(engine.came()).toEqual(names);
    const { stages, degraded } = await recordOf(gateway, (await answers[4]) as Response);
    const [{ engine: known, at } = {}] = stages;
    expect([degraded, known?.kvCapacity, known?.preemptions]).toMatchObject([[], { tokens: 2500 }, { state: "fresh", value: 0 }]);
    expect(at!.dispatched).toBeGreaterThan(at!.queued);
    expect([await queued(gateway), (await statusOf(gateway)).replicas[0]?.inFlight]).toEqual([0, 0]);
  });

  it("go to an engine that has nothing else to do, however large they are, and to each no more than it holds", async () => {
    const [small, large] = [await engineOf(1500), await engineOf(4000)];
    const gateway = await startPacking(packed([small.url, large.url]));
    const answers: Promise<Response>[] = [];
    for (const [at, [name, tokens]] of (
      [
        ["huge", 9000],
        ["one", 1900],
        ["two", 1900],
        ["three", 100],
        ["four", 300],
      ] as const
    ).entries()) {
      answers.push(ask(gateway, name, { tokens }));
      await until(async () => small.came().length + large.came().length + (await queued(gateway)) === at + 1);
    }
    expect([small.came(), large.came(), await queued(gateway)]).toEqual([["huge"], ["one", "two", "three"], 1]);
    small.answer("huge");
    await until(() => small.came().length === 2);
    small.answer("four");
    large.answer("one", "two", "three");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it("leave cleanly when their clients go, and block nothing that fits while they wait", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]));
    const first = ask(gateway, "first", { tokens: 1000 });
    await until(() => engine.came().length === 1);
    const leaving = new AbortController();
    const large = ask(gateway, "large", { tokens: 2000, init: { signal: leaving.signal } }).catch(() => null);
    await until(async () => (await queued(gateway)) === 1);
    const next = ask(gateway, "next", { tokens: 1000 });
    await until(() => engine.came().length === 2);
    expect([engine.came(), await queued(gateway)]).toEqual([["first", "next"], 1]);
    leaving.abort();
    expect(await large).toBeNull();
    await until(async () => (await queued(gateway)) === 0);
    engine.answer(...engine.came());
    expect((await Promise.all([first, next])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("are passed over so often and no more: then their engine gets nothing before they go", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]));
    const answers = [ask(gateway, "first", { tokens: 1000 })];
    await until(() => engine.came().length === 1);
    answers.push(ask(gateway, "large", { tokens: 2000 }));
    await until(async () => (await queued(gateway)) === 1);
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      const passes = ask(gateway, `pass-${pass}`, { tokens: 1000 });
      await until(() => engine.came().length === 2 + pass);
      engine.answer(`pass-${pass}`);
      expect((await passes).status).toBe(200);
    }
    answers.push(ask(gateway, "late", { tokens: 1000 }));
    await until(async () => (await queued(gateway)) === 2);
    engine.answer("first");
    await until(() => engine.came().length === 2 + MOST_PASSES);
    expect(engine.came().at(-1)).toBe("large");
    engine.answer("large");
    await until(() => engine.came().at(-1) === "late");
    engine.answer("late");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("are answered at their deadline, as all that waits", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url], { order: { kind: "sjf", agingThreshold: 100 } }), { requestSeconds: 2.5 });
    const filling = ["a", "b"].map((name) => ask(gateway, name, { tokens: 1000, max_tokens: 5 }));
    await until(() => engine.came().length === 2);
    const long = ask(gateway, "long", { tokens: 1000, max_tokens: 900 });
    await until(async () => (await queued(gateway)) === 1);
    await sleep(800);
    // Preferred to the long one, they take the room that is freed at the deadline of the first two.
    const preferred = ["c", "d"].map((name) => ask(gateway, name, { tokens: 1000, max_tokens: 5 }));
    const answer = await long;
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([504, "deadline"]);
    await until(() => engine.came().length >= 4);
    expect(engine.came()).toEqual(["a", "b", "c", "d"]);
    engine.answer("c", "d");
    expect((await Promise.all([...filling, ...preferred])).map(({ status }) => status)).toEqual([504, 504, 200, 200]);
    expect([await queued(gateway), (await statusOf(gateway)).replicas[0]?.inFlight]).toEqual([0, 0]);
  });

  it("count in the queue's bound, and those rejected for them are told when to come again", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]), { queuedPerModel: 2 });
    const taken: Promise<Response>[] = [];
    for (const [at, name] of ["a", "b", "c", "d"].entries()) {
      taken.push(ask(gateway, name, { tokens: 1000 }));
      await until(async () => engine.came().length + (await queued(gateway)) === at + 1);
    }
    const shed = await ask(gateway, "e", { tokens: 1000 });
    expect([shed.status, Number(shed.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    expect(Number(shed.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    engine.answer("a", "b");
    await until(() => engine.came().length === 4);
    engine.answer("c", "d");
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("go when what fills the memory runs longer than calls of its agent commonly do: then nobody knows how long it stays", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url], { order: { kind: "workflow", agingThreshold: 100 }, timeScale: 1 }));
    // Each is its own program, which teaches how long its calls take.
    await until(async () => {
      for (let asked = 0; asked < 32; asked += 1) await (await ask(gateway, probe, { tokens: 50 })).text();
      return ((await recordOf(gateway, await ask(gateway, probe, { tokens: 50 }))).forecast?.requestSeconds ?? 0) > 0;
    });
    const answers = ["a", "b", "c"].map((name) => ask(gateway, name, { tokens: 1000 }));
    await until(() => engine.came().length === 3);
    engine.answer(...engine.came());
    const served = await Promise.all(answers);
    expect(served.map(({ status }) => status)).toEqual([200, 200, 200]);
    const records = await Promise.all(served.map((answer) => recordOf(gateway, answer)));
    for (const { forecast } of records) expect(forecast?.requestSeconds).toBeGreaterThan(0);
    const slots = records.map(({ stages }) => Math.floor(stages[0]!.at!.dispatched / SLOT_SECONDS));
    expect(Math.max(...slots)).toBeGreaterThan(Math.min(...slots));
  });

  it("stay with the plan that they began under when another comes into force, which holds nothing back", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]));
    const answers: Promise<Response>[] = [];
    for (const [at, name] of ["a", "b", "c"].entries()) {
      answers.push(ask(gateway, name, { tokens: 1000 }));
      await until(async () => engine.came().length + (await queued(gateway)) === at + 1);
    }
    await gateway.put({ ...oneModel([engine.url]), planId: "plan-b", timeScale: nearlyStill });
    answers.push(ask(gateway, "d", { tokens: 1000 }));
    await until(() => engine.came().length === 3);
    expect([engine.came(), await queued(gateway)]).toEqual([["a", "b", "d"], 1]);
    engine.answer("a");
    await until(() => engine.came().length === 4);
    engine.answer("b", "c", "d");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const plans = await Promise.all(answers.map(async (answer) => (await recordOf(gateway, await answer)).planId));
    expect(plans).toEqual(["plan-a", "plan-a", "plan-a", "plan-b"]);
  });

  it("go on under a panic, which holds nothing back", async () => {
    const engine = await engineOf(2500);
    const gateway = await startPacking(packed([engine.url]));
    const answers: Promise<Response>[] = [];
    for (const [at, name] of ["a", "b", "c", "d"].entries()) {
      answers.push(ask(gateway, name, { tokens: 1000 }));
      await until(async () => engine.came().length + (await queued(gateway)) === at + 1);
    }
    expect(engine.came()).toEqual(["a", "b"]);
    expect((await panic(gateway, { model: "large", by: "ann", reason: "a look" })).status).toBe(200);
    await until(() => engine.came().length === 4);
    engine.answer(...engine.came());
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe("an engine that preempts requests", () => {
  it("gets nothing more until a reading finds no new preemption, which nothing but the clock tells the policy of", async () => {
    const engine = await engineOf(100_000);
    const gateway = await startPacking(packed([engine.url], { timeScale: 1 }));
    const first = ask(gateway, "first", { tokens: 1000 });
    await until(() => engine.came().length === 1);
    engine.preempt(3);
    const before = engine.reads();
    await until(() => engine.reads() >= before + 2);
    const second = ask(gateway, "second", { tokens: 1000 });
    await until(() => engine.came().length === 2);
    engine.answer(...engine.came());
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [{ engine: known, at } = {}] = (await recordOf(gateway, answers[1] as Response)).stages;
    expect(known?.preemptions).toMatchObject({ state: "fresh", value: 3 });
    // There was room for it from the first.
    expect(at!.dispatched).toBeGreaterThan(at!.queued);
  });
});
