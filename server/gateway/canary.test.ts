import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { type Canary, type CanaryRequest, canarySchema, gatewayAuditPageSchema } from "@/server/contracts/gatewayControls";
import { type Answer, heldEngine, sayCompletion, startTestEngine } from "./testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig, until } from "./testGateway";

const signed = { by: "ada", reason: "the new plan" };
const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const fixed = (model: string) => hashed({ kind: "fixed", model, ...queueing });
const candidate: CanaryRequest["candidate"] = { planId: "plan-new", ...fixed("large") };

const asked: CanaryRequest = {
  candidate,
  shares: [0.5, 1],
  stepSeconds: 0.01,
  minRequests: 20,
  stop: { errorShare: 0.1, slow: null },
  ...signed,
};

const begin = ({ adminUrl }: TestGateway, body: unknown) => fetch(`${adminUrl}/canary`, { method: "PUT", body: JSON.stringify(body) });
const withdraw = ({ adminUrl }: TestGateway) => fetch(`${adminUrl}/canary`, { method: "DELETE", body: JSON.stringify(signed) });
const canaryOf = async ({ adminUrl }: TestGateway): Promise<Canary> => canarySchema.parse(await (await fetch(`${adminUrl}/canary`)).json());
const configOf = async ({ adminUrl }: TestGateway) => (await (await fetch(`${adminUrl}/config`)).json()) as GatewayConfig;
const auditOf = async ({ adminUrl }: TestGateway) =>
  gatewayAuditPageSchema.parse(await (await fetch(`${adminUrl}/audit`)).json()).lines.map(({ action }) => action);
const ofProgram = ({ post }: TestGateway, program: string, model = "cascade/default") =>
  post("/v1/chat/completions", { model, messages: [{ role: "user", content: "What is 2 + 2?" }] }, { "x-session-id": program });

/** A gateway where every request goes to the small model, and a large one whose engine answers as given. */
async function smallInForce(large: Answer = (_, response) => sayCompletion(response, "large"), maxInFlight = 64) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const engine = await startTestEngine(large);
  const stateDirectory = await temporaryDirectory();
  const gateway = await startTestGateway({ attemptsPerStage: 1 }, { stateDirectory });
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [engine.url] },
  ];
  const config = {
    ...testConfig({ stages, maxInFlight, planId: "plan-old", thresholds: [50], judgeUrl: "http://127.0.0.1:9" }),
    ...fixed("small"),
  };
  await gateway.put(config);
  return { gateway, config, small, engine, stateDirectory };
}

/** Sends one request for each program, some at once. @returns the programs that the candidate answered. */
async function programsAtCandidate(gateway: TestGateway, programs: readonly string[]): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  const rest = [...programs];
  const send = async (): Promise<void> => {
    for (let program = rest.pop(); program !== undefined; program = rest.pop()) {
      const { status, headers } = await ofProgram(gateway, program);
      expect(status).toBe(200);
      if (headers.get("x-weir-plan") === candidate.planId) taken.add(program);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  return taken;
}

/** Programs that the candidate takes under the step under way, found by asking. */
async function untilFailed(gateway: TestGateway, prefix: string): Promise<void> {
  for (let index = 0; (await canaryOf(gateway)).state === "running"; index += 1) await ofProgram(gateway, `${prefix}${index}`);
}

describe("a canary", () => {
  it("takes 5, 25 and 100 % of the programs, each only towards the candidate, and is then in force", async () => {
    const { gateway, config } = await smallInForce();
    const begun = await begin(gateway, { ...asked, shares: [0.05, 0.25, 1], minRequests: 200 });
    expect(canarySchema.parse(await begun.json())).toMatchObject({ state: "running", step: 0, candidateArm: { finished: 0 } });
    const programs = Array.from({ length: 500 }, (_, index) => `program-${index}`);
    const first = await programsAtCandidate(gateway, programs);
    // Four standard deviations of 500 draws.
    expect(Math.abs(first.size / 500 - 0.05)).toBeLessThan(0.04);
    expect((await canaryOf(gateway)).candidateArm).toEqual({ finished: first.size, failed: 0, slow: 0 });
    expect((await canaryOf(gateway)).currentArm.finished).toBe(500 - first.size);
    const [some = ""] = first;
    expect(await programsAtCandidate(gateway, new Array(200 - first.size).fill(some))).toEqual(new Set([some]));
    expect(await canaryOf(gateway)).toMatchObject({ step: 1, candidateArm: { finished: 0 }, currentArm: { finished: 0 } });
    const second = await programsAtCandidate(gateway, programs);
    expect(Math.abs(second.size / 500 - 0.25)).toBeLessThan(0.08);
    expect([...first].every((program) => second.has(program))).toBe(true);
    expect(
      (await gateway.decisions())
        .filter(({ canary }) => canary)
        .every(({ planId, policyHash }) => planId === "plan-new" && policyHash === candidate.policyHash),
    ).toBe(true);
    expect((await ofProgram(gateway, some, "small")).headers.get("x-weir-policy")).toBe("direct");
    await programsAtCandidate(gateway, new Array(200 - second.size).fill(some));
    expect((await canaryOf(gateway)).step).toBe(2);
    expect((await programsAtCandidate(gateway, programs)).size).toBe(500);
    await until(async () => (await configOf(gateway)).planId === "plan-new");
    expect(await canaryOf(gateway)).toMatchObject({ state: "promoted", step: 2 });
    expect(await configOf(gateway)).toEqual({ ...config, ...candidate });
    expect(await auditOf(gateway)).toEqual(["configuration", "canary started", "canary step", "canary step", "canary promoted"]);
    const status = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    expect([status.planId, status.persistedEtag]).toEqual(["plan-new", status.configEtag]);
    expect((await ofProgram(gateway, some)).headers.get("x-weir-plan")).toBe("plan-new");
    const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
    await fetch(`${gateway.adminUrl}/rollback`, { method: "POST", headers: { "if-match": etag }, body: JSON.stringify(signed) });
    expect(await configOf(gateway)).toEqual(config);
  }, 30_000);

  it("stops as soon as too many of its requests are sure to fail, and everyone is back at once", async () => {
    const { gateway, config } = await smallInForce((_, response) => response.writeHead(500).end());
    await begin(gateway, asked);
    await untilFailed(gateway, "p");
    expect(await canaryOf(gateway)).toMatchObject({
      state: "stopped",
      candidateArm: { finished: 3, failed: 3 },
      endReason: "3 of 3 requests failed, more than 10 % of 20.",
    });
    const programs = Array.from({ length: 40 }, (_, index) => `p${index}`);
    expect((await programsAtCandidate(gateway, programs)).size).toBe(0);
    expect(await configOf(gateway)).toEqual(config);
    expect((await auditOf(gateway)).at(-1)).toBe("canary stopped");
    expect((await withdraw(gateway)).status).toBe(404);
    expect((await begin(gateway, asked)).status).toBe(200);
  });

  it("stops when too many of its requests are slower than the objective", async () => {
    const { gateway } = await smallInForce((_, response) => setTimeout(() => sayCompletion(response, "late"), 60));
    const stop = { errorShare: 0.5, slow: { endToEndSeconds: 0.05, share: 0.25 } };
    await begin(gateway, { ...asked, minRequests: 8, stop });
    await untilFailed(gateway, "p");
    expect(await canaryOf(gateway)).toMatchObject({
      state: "stopped",
      candidateArm: { finished: 3, failed: 0, slow: 3 },
      endReason: "3 of 3 requests took longer than 0.05 s, more than 25 % of 8.",
    });
  });

  it("counts streams that break, and neither clients that go away nor what engines refuse of clients", async () => {
    let answer: Answer = (_, response) => response.writeHead(400, { "content-type": "application/json" }).end("{}");
    const { gateway, engine } = await smallInForce((request, response) => answer(request, response));
    await begin(gateway, { ...asked, shares: [0.9, 1], minRequests: 1000, stop: { errorShare: 0.0005, slow: null } });
    for (let index = 0; index < 10; index += 1) await ofProgram(gateway, `p${index}`);
    const refused = engine.asked.length;
    expect(refused).toBeGreaterThan(3);
    answer = () => undefined;
    for (let index = 0; index < 10; index += 1) {
      const before = engine.asked.length;
      const gone = new AbortController();
      const sent = gateway.chat({ model: "cascade/default" }, { signal: gone.signal }).catch(() => null);
      await until(async () => engine.asked.length > before || (await gateway.decisions()).length > 10 + index);
      gone.abort();
      await sent;
      await until(async () => (await gateway.decisions()).length === 11 + index);
    }
    expect(engine.asked.length).toBeGreaterThan(refused);
    expect(await canaryOf(gateway)).toMatchObject({ state: "running", candidateArm: { finished: refused, failed: 0 } });
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write('data: {"choices":[{"index":0,"delta":{"content":"4"}}]}\n\n');
      setTimeout(() => response.destroy(), 5);
    };
    while ((await canaryOf(gateway)).state === "running") {
      const stream = await gateway.chat({ model: "cascade/default", stream: true });
      await stream.text().catch(() => "");
    }
    expect(await canaryOf(gateway)).toMatchObject({ state: "stopped", candidateArm: { failed: 1 } });
  });

  it("stops where its requests are turned away for want of room", async () => {
    const held = await heldEngine();
    const { gateway, config } = await smallInForce();
    const replicas = config.replicas.map((replica) =>
      replica.model === "large" ? { ...replica, url: held.url, maxInFlight: 1 } : replica,
    );
    // One place in the queue of 2000.
    await gateway.put({ ...config, replicas, settings: { objectives: [{ name: "batch", queueShare: 0.0005 }] } });
    await begin(gateway, { ...asked, shares: [1], minRequests: 20 });
    const ofBatch = () =>
      gateway.chat(
        { model: "cascade/default" },
        { headers: { "content-type": "application/json", "x-gateway-inference-objective": "batch" } },
      );
    const taken = [ofBatch()];
    await until(() => held.asked.length === 1);
    taken.push(ofBatch());
    await until(async () => (await queuedOf(gateway)).large === 1);
    for (let index = 0; index < 3; index += 1) expect((await ofBatch()).status).toBe(429);
    expect(await canaryOf(gateway)).toMatchObject({ state: "stopped", candidateArm: { finished: 3, failed: 3 } });
    held.open();
    await Promise.all(taken);
  });

  it("is put into force once where the audit cannot be written, and the way back stays", async () => {
    const { gateway, config } = await smallInForce();
    await begin(gateway, { ...asked, shares: [1], minRequests: 3 });
    const path = join(gateway.stateDirectory, "audit.jsonl");
    await rm(path);
    await mkdir(path);
    for (let index = 0; (await canaryOf(gateway)).state === "running"; index += 1) await ofProgram(gateway, `p${index}`);
    await until(async () => (await configOf(gateway)).planId === "plan-new");
    for (let index = 0; index < 6; index += 1) await ofProgram(gateway, `q${index}`);
    expect(await canaryOf(gateway)).toMatchObject({ state: "promoted" });
    expect((await auditOf(gateway)).filter((action) => action === "canary promoted")).toHaveLength(1);
    const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
    await fetch(`${gateway.adminUrl}/rollback`, { method: "POST", headers: { "if-match": etag }, body: JSON.stringify(signed) });
    expect(await configOf(gateway)).toEqual(config);
  });

  it("that a crash left in force without a word is told of at the next start, and once", async () => {
    const { gateway, config, stateDirectory } = await smallInForce();
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.close();
    const path = join(stateDirectory, "gateway.json");
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), ...config, ...candidate }));
    for (let start = 0; start < 2; start += 1) {
      const next = await startTestGateway({}, { stateDirectory });
      expect(await canaryOf(next)).toMatchObject({ state: "promoted" });
      expect(await auditOf(next)).toEqual(["configuration", "canary started", "configuration", "canary promoted"]);
      await next.close();
    }
  });

  it("withdrawn, gives what waits for the candidate to the policy in force and lets what is at an engine finish", async () => {
    const held = await heldEngine();
    const { gateway, config } = await smallInForce();
    const replicas = config.replicas.map((replica) =>
      replica.model === "large" ? { ...replica, url: held.url, maxInFlight: 1 } : replica,
    );
    await gateway.put({ ...config, replicas });
    await begin(gateway, { ...asked, shares: [1], minRequests: 1000 });
    const answers = Array.from({ length: 6 }, (_, index) => ofProgram(gateway, `p${index}`));
    await until(async () => (await queuedOf(gateway)).large === 5);
    const ended = canarySchema.parse(await (await withdraw(gateway)).json());
    expect(ended).toMatchObject({ state: "withdrawn", endReason: "ada ended it: the new plan" });
    await until(async () => (await gateway.decisions()).length === 5);
    held.open();
    const models = await Promise.all(answers.map(async (answer) => (await answer).headers.get("x-weir-model")));
    expect(models.sort()).toEqual(["large", "small", "small", "small", "small", "small"]);
    expect(await auditOf(gateway)).toEqual(["configuration", "configuration", "canary started", "canary withdrawn"]);
  });

  it("withdrawn, sends no request on to a later stage of the candidate's", async () => {
    const held = await heldEngine();
    const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
    const { gateway, config, engine } = await smallInForce();
    const middle = { id: "middle-0", model: "middle", url: held.url, state: "active" as const, maxInFlight: 8 };
    const replicas = [...config.replicas, middle];
    await gateway.put({ ...config, replicas, judge: { model: "weir-judge", url: judge.url } });
    const stages = ["middle", "large"].map((model) => ({ model, urls: [] }));
    const { policy, policyHash } = testConfig({ stages, thresholds: [50] });
    await begin(gateway, { ...asked, candidate: { planId: "plan-new", policy, policyHash }, shares: [1], minRequests: 1000 });
    const answers = Array.from({ length: 4 }, (_, index) => ofProgram(gateway, `p${index}`));
    await until(() => held.asked.length === 4);
    await withdraw(gateway);
    held.open();
    const models = await Promise.all(answers.map(async (answer) => (await answer).headers.get("x-weir-model")));
    expect([models, engine.asked.length]).toEqual([["small", "small", "small", "small"], 0]);
    const [record] = await gateway.decisions();
    expect([record?.canary, record?.policyHash]).toEqual([undefined, config.policyHash]);
    expect(record?.stages.map(({ model, verdict }) => [model, verdict])).toEqual([
      ["middle", "escalated"],
      ["small", "accepted"],
    ]);
  });

  it("goes on at the same step after a restart, with counts anew and the same programs", async () => {
    const { gateway, stateDirectory } = await smallInForce();
    await begin(gateway, { ...asked, shares: [0.2, 0.4, 1], minRequests: 25 });
    const programs = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const [some = ""] = await programsAtCandidate(gateway, programs);
    await programsAtCandidate(gateway, new Array(25).fill(some));
    await gateway.close();
    const before = await programsAtCandidate(await resumed(), programs);
    const { step, state, candidateArm, currentArm } = await canaryOf(await resumed());
    expect([step, state, candidateArm.finished, currentArm.finished]).toEqual([1, "running", 0, 0]);
    expect(before.size).toBeGreaterThan(3);
    expect(before.size).toBeLessThan(27);
    expect(await programsAtCandidate(await resumed(), programs)).toEqual(before);

    /** The gateway started anew, closed before the next. */
    async function resumed(): Promise<TestGateway> {
      await last?.close();
      last = await startTestGateway({ attemptsPerStage: 1 }, { stateDirectory });
      return last;
    }
  });
  let last: TestGateway | undefined;

  it("is withdrawn by another plan or policy, and by a panic, and not by other engines of the same plan", async () => {
    const { gateway, config } = await smallInForce();
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.put({ ...config, replicas: config.replicas.map((replica) => ({ ...replica, maxInFlight: 9 })) });
    expect((await canaryOf(gateway)).state).toBe("running");
    await gateway.put({ ...config, planId: "plan-other" });
    expect(await canaryOf(gateway)).toMatchObject({ state: "withdrawn", endReason: "Another plan or policy came into force." });
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.put({ ...config, planId: "plan-other", replicas: config.replicas.filter(({ model }) => model === "small") });
    expect((await canaryOf(gateway)).endReason).toContain("The stage large has no replica");
    await gateway.put({ ...config, planId: "plan-other" });
    await begin(gateway, { ...asked, minRequests: 1000 });
    await fetch(`${gateway.adminUrl}/panic`, { method: "PUT", body: JSON.stringify({ model: "small", ...signed }) });
    expect(await canaryOf(gateway)).toMatchObject({ state: "withdrawn", endReason: "A panic was declared." });
    const answer = await begin(gateway, asked);
    expect([answer.status, await messageOf(answer)]).toEqual([409, "There is a panic; lift it first."]);
  });

  it.each<[string, Partial<CanaryRequest>, number, string]>([
    ["shares that fall", { shares: [0.5, 0.25, 1] }, 400, "0.5, 0.25, 1; they must rise"],
    ["shares that end early", { shares: [0.05, 0.25] }, 400, "the last must be 1"],
    ["a policy of another hash", { candidate: { ...candidate, policyHash: "abc" } }, 400, '"abc"'],
    ["a model without engines", { candidate: { planId: "x", ...fixed("huge") } }, 409, "The stage huge has no replica"],
    ["what is in force", { candidate: { planId: "plan-old", ...fixed("small") } }, 409, "The candidate is what is in force."],
    ["a plan id that is no header", { candidate: { ...candidate, planId: "plan-\u2192" } }, 400, "`candidate.planId`"],
    ["no number of requests", { minRequests: 0 }, 400, "`minRequests`"],
  ])("is refused for %s with a sentence", async (_, change, status, sentence) => {
    const { gateway } = await smallInForce();
    const answer = await begin(gateway, { ...asked, ...change });
    expect([answer.status, await messageOf(answer)]).toEqual([status, expect.stringContaining(sentence)]);
    expect(await (await fetch(`${gateway.adminUrl}/canary`)).json()).toBe(null);
  });

  it("is refused while another runs", async () => {
    const { gateway } = await smallInForce();
    await begin(gateway, asked);
    expect((await begin(gateway, asked)).status).toBe(409);
  });
});

async function messageOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { message: string } }).error.message;
}

async function queuedOf({ adminUrl }: TestGateway) {
  return gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).queued;
}
