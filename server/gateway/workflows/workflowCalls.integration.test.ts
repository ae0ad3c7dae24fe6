import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { ClientAnswer } from "../request/clientAnswer";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";
import { call, programsOf, quickEngine, served, timeScale, workflowsOf } from "../testing/testWorkflows";

const body = { model: "cascade/test", messages: [{ role: "user", content: "Go on." }] };

const last = async (gateway: TestGateway): Promise<Decision> => (await gateway.decisions()).at(-1) as Decision;

const timesOf = ({ at }: StageRecord): NonNullable<StageRecord["at"]> => at as NonNullable<StageRecord["at"]>;

describe("what a call is learnt as", () => {
  it("has a cascade's call last from its first dispatch to its last answer, less what it waited for the second engine", async () => {
    const weak = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "hm"), 100));
    const strong = await heldEngine();
    const judge = await startTestEngine((_, response) => sayCompletion(response, "10"));
    const gateway = await startTestGateway();
    const stages = [
      { model: "weak", urls: [weak.url] },
      { model: "strong", urls: [strong.url] },
    ];
    await gateway.put({ ...testConfig({ stages, thresholds: [50], judgeUrl: judge.url, maxInFlight: 1 }), timeScale });
    const other = gateway.post("/v1/chat/completions", { ...body, model: "strong" });
    await until(() => strong.asked.length === 1);
    const escalated = call(gateway, { "x-weir-agent": "planner" });
    await until(async () => {
      const { queued } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> };
      return queued.strong === 1;
    });
    await sleep(200);
    strong.open();
    await Promise.all([escalated, other]);
    const { stages: asked } = (await gateway.decisions()).find(({ agent }) => agent === "planner/planner") as Decision;
    const [first, second] = asked.map(timesOf);
    const waitedSeconds = second!.dispatched - second!.queued;
    const workedSeconds = second!.answered - first!.dispatched - waitedSeconds;
    expect([first!.answered - first!.dispatched > 5, waitedSeconds > 10]).toEqual([true, true]);
    const { learnt } = await workflowsOf(gateway);
    const planner = learnt.agents.find(({ key }) => key === "planner/planner");
    expect(planner?.request.map(({ model, quantilesSeconds }) => [model, quantilesSeconds.at(-1)])).toEqual([
      ["weak > strong", expect.closeTo(workedSeconds, 6)],
    ]);
    expect(planner?.remaining.quantilesSeconds.at(-1)).toBeCloseTo(workedSeconds, 6);
  });

  it("has its program begin when the client says, on the engines' clock", async () => {
    const engine = await quickEngine();
    const gateway = await startTestGateway();
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    await gateway.put({ ...served(engine), ...hashed({ kind: "fixed", model: "large", order, place: { kind: "least-load" } }) });
    await call(gateway, { "x-weir-started-at": String(Date.now() - 2000) });
    const { programStart, stages } = await last(gateway);
    expect(timesOf(stages[0]!).queued - (programStart ?? Number.NaN)).toBeGreaterThan(1.9 * timeScale);
  });

  it("keeps sessions of one name apart by application and API key, while their records say what the client said", async () => {
    const engine = await quickEngine();
    const gateway = await startTestGateway();
    const keys = ["team-a", "team-b"].map((name) => ({ name, sha256: createHash("sha256").update(name).digest("hex") }));
    await gateway.put({ ...served(engine), settings: { keys } });
    const ask = (key: string, workflow: string, agent: string) =>
      call(gateway, { authorization: `Bearer ${key}`, "x-session-id": "1", "x-weir-workflow": workflow, "x-weir-agent": agent });
    await ask("team-a", "report", "writer");
    await ask("team-a", "code", "coder");
    await ask("team-b", "report", "editor");
    await ask("team-a", "report", "reader");
    await until(async () => (await programsOf(gateway)) === 3);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ openPrograms: 0, lateCalls: 0 });
    expect(learnt.applications.flatMap(({ edges }) => edges.map(({ from, to }) => [from, to]))).toEqual([
      ["report/writer", "report/reader"],
    ]);
    expect(learnt.agents.map(({ key }) => key).sort()).toEqual(["code/coder", "report/editor", "report/reader", "report/writer"]);
    expect((await gateway.decisions()).map(({ program }) => program)).toEqual(["1", "1", "1", "1"]);
  });

  it("has it end where the gateway itself failed, too, so that its program does", async () => {
    const gateway = await startTestGateway();
    await gateway.put(served(await quickEngine()));
    vi.spyOn(ClientAnswer.prototype, "give").mockImplementationOnce(() => {
      throw new Error("a bug");
    });
    expect((await gateway.post("/v1/chat/completions", body, { "x-session-id": "s", "x-weir-agent": "coder" })).status).toBe(500);
    await until(async () => (await programsOf(gateway)) === 1);
    expect((await workflowsOf(gateway)).learnt.counts).toMatchObject({ calls: 1, openPrograms: 0 });
  });

  it("is learnt from in few turns where many programs fall silent together, all of them at one look", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const gateway = await startTestGateway();
    await gateway.put({ ...served(await quickEngine()), timeScale: 10_000 });
    for (let at = 0; at < 10; at += 1) await call(gateway, { "x-session-id": `s${at}`, "x-weir-agent": "coder" });
    expect((await workflowsOf(gateway)).learnt.counts).toMatchObject({ programs: 0, openPrograms: 10 });
    // Half a minute on the engines' clock, many times over.
    await sleep(50);
    vi.advanceTimersByTime(1_000);
    await until(async () => (await programsOf(gateway)) === 10);
  });

  it("takes no count of tokens that nothing can have counted, and goes on to place and to keep", async () => {
    const usage = '{"prompt_tokens":7,"completion_tokens":1.7e308}';
    const choices = '[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]';
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(`{"model":"large","choices":${choices},"usage":${usage}}`);
    });
    const gateway = await startTestGateway();
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    await gateway.put({ ...served(engine), ...hashed({ kind: "fixed", model: "large", order, place: { kind: "time-slots" } }) });
    let calls = 0;
    await until(async () => {
      await call(gateway, { "x-weir-agent": "coder" });
      calls += 1;
      return (await last(gateway)).forecast !== undefined;
    });
    const { stages, forecast } = await last(gateway);
    expect([stages[0]?.inputTokens, stages[0]?.outputTokens, Number.isFinite(forecast?.tokensPerSecond)]).toEqual([7, null, true]);
    await gateway.close();
    expect(await programsOf(await startTestGateway({}, { stateDirectory: gateway.stateDirectory }))).toBe(calls);
  });
});
