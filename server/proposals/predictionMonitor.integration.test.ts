import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ControlChange, ControlsForecast, LiveFrame, MeasuredChange } from "@/server/contracts/studio";
import type { PromiseReport } from "@/server/contracts/studio/promise";
import { createPlanner } from "@/server/planning/planner/planner";
import { openStore, type Store } from "@/server/store/store";
import { loadWorkload, storeWorkload } from "@/server/workloads/storedWorkloads";
import { seededRandom } from "@/solver/numeric/random";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { notComparable, unpredictedPlan } from "../clusters/watch/promiseWindow";
import { createPlanTraffic, type PlanTraffic } from "./planTraffic";
import { planUnder } from "./planUnder";
import { createPredictionMonitor, type PredictionMonitor, type PromiseSource } from "./predictionMonitor";
import { type TestTraffic, testDecisions } from "./testing/testDecisions";

const clusterId = "c";
const workload = shortWorkload({ prompts: 2000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const RATE = 20;
const WINDOW = 200;
const START_MS = Date.parse("2026-01-01T12:00:00Z");
const NOW_MS = START_MS + WINDOW * 1000;

const planner = createPlanner();
let folder: string;
let store: Store;
let plan: Plan;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-promises-"));
  store = openStore(folder);
  const cluster = {
    id: clusterId,
    name: "c",
    kind: "described" as const,
    gpu: "l40s",
    nodes: [{ name: "node1", gpus: 4 }],
    usdPerGpuHour: 1,
  };
  store.clusters.insert(cluster, new Date(START_MS).toISOString());
  const answer = await planner.solve({
    ...{ workload, workloadId: storeWorkload(store, workload), cluster, requestsPerSecond: RATE },
    fixed: { models: ["qwen2.5-3b", "qwen2.5-7b"], thresholds: [50] },
    objective: {
      ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30 },
      ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
    },
  });
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  plan = answer.plan;
  store.plans.keep(plan);
}, 60_000);
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

interface Served extends TestTraffic {
  /** P95 of the latencies, whose spread is as wide as that of a queue. */
  readonly p95Seconds: number;
  /** Time at each engine. */
  readonly engineSeconds?: number;
  /** Idle time of the window before the first request. */
  readonly idleSeconds?: number;
  /** The plan that decides the requests; left out: the one in force. */
  readonly under?: Plan;
  /** Which requests fail, by their number. */
  readonly fails?: (at: number) => boolean;
}

/** What a gateway writes down in the window, newest first. */
function records({ p95Seconds, engineSeconds = 0.01, idleSeconds = 0, under = plan, fails = () => false, ...traffic }: Served): Decision[] {
  const random = seededRandom(7);
  return testDecisions(
    { plan: under, workload, timeScale: 1, startMs: START_MS },
    { fromSeconds: idleSeconds, seconds: WINDOW - idleSeconds },
    traffic,
  )
    .map((decision, at) => {
      const endToEndSeconds = p95Seconds * Math.exp(0.5 * (random.normal() - 1.645));
      const stages = decision.stages.map((stage) => ({
        ...stage,
        seconds: engineSeconds,
        judgeSeconds: stage.judgedScore === null ? null : 0.27,
      }));
      return {
        ...decision,
        ...(fails(at) ? { status: 503, stages: [] } : { stages }),
        endToEndSeconds,
        finishedAtMs: decision.finishedAtMs + (endToEndSeconds - decision.endToEndSeconds) * 1000,
      };
    })
    .filter(({ finishedAtMs }) => finishedAtMs <= NOW_MS)
    .sort((a, b) => b.finishedAtMs - a.finishedAtMs);
}

function frame(change: Partial<LiveFrame["gateway"]["routing"] & object> = {}, missing = 0): LiveFrame {
  const engines = runningReplicas(plan)
    .slice(missing)
    .map(({ model, placements }, at) => ({
      ...{ id: `e${at}`, model, health: "serving" },
      gpus: placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index }))),
    }));
  return {
    ...{ atMs: NOW_MS, clusterId, planId: plan.id, timeScale: 1, engines },
    gateway: { state: "fresh", reason: "", routing: { planId: plan.id, policyHash: plan.policyHash, controls: null, ...change } },
    measured: { requests: 0, windowSeconds: WINDOW },
  } as unknown as LiveFrame;
}

function open(served: Served, shown = frame(), labelOf: PromiseSource["labelOf"] = () => null): PredictionMonitor {
  const decisions = records(served);
  const traffic: PlanTraffic = createPlanTraffic({ plan, workload, timeScale: 1, windowSeconds: 300, before: null, nowMs: START_MS });
  const source: PromiseSource = {
    decisions: () => decisions,
    mirrored: () => [],
    timeScale: 1,
    frame: () => shown,
    labelOf,
    emulated: true,
    emulatedAsPlanned: false,
  };
  let clockMs = NOW_MS;
  return createPredictionMonitor({
    ...{ store, planner, trafficOf: () => traffic, sourceOf: () => source },
    now: () => {
      clockMs += 1;
      return clockMs;
    },
  });
}

async function settled(desk: PredictionMonitor): Promise<PromiseReport> {
  for (;;) {
    const report = desk.report(clusterId)!;
    if (!report.simulating) return report;
    await new Promise((wake) => setTimeout(wake, 20));
  }
}
const moreGpus = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => ({ node: "node1", index }));
const verdicts = ({ promises }: PromiseReport) => Object.fromEntries(promises.map(({ name, verdict }) => [name, verdict]));

test("a plan that does what it promised breaks no promise, and nothing is simulated", () => {
  const report = open({ rate: RATE, p95Seconds: plan.predictions.p95Seconds }).report(clusterId)!;
  expect(report.promises.filter(({ verdict }) => verdict === "broken")).toEqual([]);
  expect(verdicts(report)).toMatchObject({ "p95 end to end": "kept", "cost per request": "kept", "cost per hour": "kept" });
  expect(report.promises.map(({ name }) => name)).toContain("score of accepted answers");
  expect(report).toMatchObject({ notComparable: null, simulating: false, broken: [], notes: [], emulated: true, emulatedAsPlanned: false });
  expect(report.inputs.filter(({ state }) => state === "drifted")).toEqual([]);
  expect(report.inputs.find(({ name }) => name === "rate")!.now! / RATE).toBeCloseTo(1, 1);
});

test("a p95 that the measured rate accounts for is put down to the rate", async () => {
  const rate = 2.4 * RATE;
  const outcome = await planUnder(planner, { plan, workload }, { requestsPerSecond: rate }, new AbortController().signal);
  if (outcome.kind !== "predicted") throw new Error(outcome.kind);
  const { predictions: busier } = outcome;
  expect(busier.p95Seconds).toBeGreaterThan(1.1 * plan.predictions.p95Band.high);
  const desk = open({ rate, p95Seconds: busier.p95Seconds });
  expect(desk.report(clusterId)!.broken[0]!.says).toContain("The planner simulates the plan under what is measured.");
  const { broken, promises } = await settled(desk);
  const [p95] = broken;
  expect(promises[0]).toMatchObject({ name: "p95 end to end", verdict: "broken" });
  expect(p95).toMatchObject({ promise: "p95 end to end", slowEngines: false });
  expect(p95!.replaced).toEqual([
    {
      inputs: "rate",
      outcome: { kind: "predicted", value: expect.any(Number) },
      better: false,
      explains: expect.any(Number),
      verdict: "explains",
    },
  ]);
  expect(p95!.replaced[0]!.explains).toBeCloseTo(1, 0);
  expect(p95!.says).toMatch(/With the rate as measured the plan predicts .* it explains it\.$/);
});

test("where no input moved and the engines alone take longer than predicted, they are called slower than calibrated", async () => {
  const slow = 3 * plan.predictions.p95Seconds;
  const { broken, promises } = await settled(open({ rate: RATE, p95Seconds: slow, engineSeconds: slow }));
  const [p95] = broken;
  expect(p95!.says).toMatch(/No input that is watched has moved\. Engines of .* slower than calibrated\./);
  expect(p95!.slowEngines).toBe(true);
  expect(promises.filter(({ name, verdict }) => verdict === "broken" && name.startsWith("p95 of")).length).toBeGreaterThan(0);
  const unexplained = await settled(open({ rate: RATE, p95Seconds: slow }));
  expect(unexplained.broken[0]!.says).toContain("It is unexplained");
});

test("an engine that is gone is told at once", async () => {
  const { broken, inputs } = await settled(open({ rate: RATE, p95Seconds: 4 * plan.predictions.p95Seconds }, frame({}, 1)));
  expect(broken[0]!.says).toMatch(/Of the engines of .* that serve there are \d of \d\./);
  expect(inputs.filter(({ kind, state }) => kind === "engines" && state === "moved").length).toBe(1);
});

test("fewer requests than planned on GPUs that cost what was promised break no promise: the rate explains what each costs", () => {
  const report = open({ rate: RATE / 4, p95Seconds: plan.predictions.p95Seconds / 2 }).report(clusterId)!;
  expect(verdicts(report)).toMatchObject({ "cost per request": "not comparable", "cost per hour": "kept", "p95 end to end": "kept" });
  expect(report.promises.find(({ name }) => name === "cost per request")!.reason).toMatch(
    /^the rate explains it: 5\.\d\/s came, 20\/s were planned/,
  );
  expect(report).toMatchObject({ simulating: false, broken: [] });
});

test("a request that costs more on more GPUs than planned breaks its promise whatever the rate", () => {
  const shown = frame();
  const held = { ...shown, engines: shown.engines.map((engine, at) => (at > 0 ? engine : { ...engine, gpus: moreGpus })) };
  const report = open({ rate: RATE / 4, p95Seconds: plan.predictions.p95Seconds / 2 }, held).report(clusterId)!;
  expect(report.broken.map(({ promise }) => promise)).toEqual(["cost per hour", "cost per request"]);
});

test("requests that begin late in the window are told at the rate they come at, and settle from then on", () => {
  const late = open({ rate: RATE, p95Seconds: 2, idleSeconds: WINDOW - 40 }).report(clusterId)!;
  expect(late.windowSeconds).toBeLessThan(42);
  expect(late.inputs.find(({ name }) => name === "rate")!.now! / RATE).toBeCloseTo(1, 0);
  expect(verdicts(late)["cost per request"]).not.toBe("broken");
  const young = open({ rate: RATE, p95Seconds: 2, idleSeconds: WINDOW - plan.predictions.p95Seconds }).report(clusterId)!;
  expect(young.promises[0]!.reason).toMatch(/^settling: /);
});

test("longer prompts and a judge that reads lower are each simulated as they were seen and told by name, and what to plan for holds them", async () => {
  const desk = open({ rate: RATE, longer: 3, lower: 12, p95Seconds: 3 * plan.predictions.p95Seconds });
  const { broken, inputs } = await settled(desk);
  expect(inputs.filter(({ state }) => state === "moved").map(({ name }) => name)).toContain("input tokens");
  expect(broken.find(({ promise }) => promise === "p95 end to end")!.replaced.map(({ inputs: group }) => group)).toEqual(
    expect.arrayContaining(["lengths", "scores", "all"]),
  );
  const share = broken.find(({ promise }) => promise.startsWith("share reaching"))!;
  expect(share.replaced[0]).toMatchObject({ inputs: "scores", verdict: expect.stringMatching(/^explains/) });
  const before = store.workloads.list().length;
  const answer = desk.toPlan(clusterId);
  if (!answer.ok) throw new Error(answer.message);
  expect(answer.traffic.requestsPerSecond).toBe(RATE);
  expect(store.workloads.list().length).toBe(before + 1);
  const mean = (values: Int32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const made = loadWorkload(store, answer.traffic.workloadId)!;
  expect(mean(made.outcomes.inputTokens) / mean(workload.outcomes.inputTokens)).toBeCloseTo(3, 0);
});

test("quality is held against labels where they are known, and else not called quality", () => {
  const told = open({ rate: RATE, p95Seconds: 1 }, frame(), () => 10).report(clusterId)!;
  expect(verdicts(told)).toMatchObject({ quality: "broken" });
  const [row] = open({ rate: RATE, p95Seconds: 1 })
    .report(clusterId)!
    .promises.filter(({ kind }) => kind === "score");
  expect(row!.reason).toContain("quality is not measured");
});

test("nothing is judged in a panic, with knobs turned, under another plan, of models chosen just in time and while requests settle", () => {
  const served = { rate: RATE, p95Seconds: 50 * plan.predictions.p95Seconds };
  const told = (shown: LiveFrame) => open(served, shown).report(clusterId)!;
  const panic = { controls: { panic: { model: "m" }, canary: null } } as never;
  for (const [shown, words] of [
    [frame(panic), "In panic m answers everything"],
    [frame({ policyHash: "0" }), "Knobs were changed by hand"],
    [frame({ planId: "0" }), "another plan"],
  ] as const) {
    const report = told(shown);
    expect(report.notComparable).toContain(words);
    expect(new Set(report.promises.map(({ verdict }) => verdict))).toEqual(new Set(["not comparable"]));
    expect(report.broken).toEqual([]);
  }
  const justInTime: JustInTimePolicy = {
    ...{ kind: "just-in-time", workflows: [], selection: { kind: "cheapest" }, order: { kind: "fcfs" }, place: { kind: "least-load" } },
    models: [{ model: "m", cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 1 }] }],
  };
  expect(notComparable({ ...plan, policy: justInTime }, frame(), false)).toContain("Models are chosen just in time");
  expect(unpredictedPlan({ ...plan, policy: justInTime })).toBe(notComparable({ ...plan, policy: justInTime }, frame(), true));
  expect([notComparable(plan, frame(), false), unpredictedPlan(plan)]).toEqual([null, null]);
  const young = { ...frame(), measured: { ...frame().measured, windowSeconds: plan.predictions.p95Seconds } };
  expect(new Set(told(young).promises.map(({ verdict }) => verdict))).toEqual(new Set(["too little measured"]));
});

test("failures in a row are counted and break their promise, whatever else is too little measured", () => {
  const requests = RATE * WINDOW;
  const outage = (at: number): boolean => at >= requests / 2 && at < 0.755 * requests;
  const report = open({ rate: RATE, p95Seconds: plan.predictions.p95Seconds, fails: outage }).report(clusterId)!;
  const row = report.promises.find(({ name }) => name === "failed requests")!;
  expect(row).toMatchObject({ verdict: "broken", interval: null });
  expect(row.measured).toBeCloseTo(0.26, 1);
  expect(row.reason).toMatch(/^10\d\d of 3\d\d\d requests failed; /);
  expect(report.failed / (report.requests + report.failed)).toBeCloseTo(row.measured!, 6);
});

test("where every request fails that promise is broken at once, and all others are too little measured", () => {
  const report = open({ rate: RATE, p95Seconds: 1, idleSeconds: WINDOW - 1.5, fails: () => true }).report(clusterId)!;
  expect(report.requests).toBe(0);
  expect(report.failed).toBeGreaterThan(3);
  expect(verdicts(report)).toMatchObject({ "failed requests": "broken", "p95 end to end": "too little measured" });
});

test("a failure or two in many requests are said, though they may be chance", () => {
  const report = open({ rate: RATE, p95Seconds: 1, idleSeconds: WINDOW - 20, fails: (at) => at % 50 === 7 && at < 150 }).report(clusterId)!;
  const row = report.promises.find(({ name }) => name === "failed requests")!;
  expect(row.verdict).not.toBe("broken");
  expect(row.reason).toContain("3 of ");
});

describe("a change of the controls", () => {
  const change = (threshold: number, forecast: ControlsForecast | null, after = "changed"): ControlChange => ({
    ...{ clusterId, at: new Date(START_MS).toISOString(), actor: "ana", reason: "", planId: plan.id },
    ...{ hashBefore: plan.policyHash, hashAfter: after, from: { thresholds: [50] }, to: { thresholds: [threshold] }, forecast },
  });
  /** What the planner predicts of other thresholds, as a forecast. */
  async function forecastAt(threshold: number): Promise<{ readonly forecast: ControlsForecast; readonly changed: Plan }> {
    const policy = { ...plan.policy, thresholds: [threshold] } as CascadePolicy;
    const outcome = await planUnder(
      planner,
      { plan: { ...plan, policy }, workload },
      { requestsPerSecond: RATE },
      new AbortController().signal,
    );
    if (outcome.kind !== "predicted") throw new Error(outcome.kind);
    const { quality, qualityBand, p95Seconds, p95Band, stages } = outcome.predictions;
    const figures = { capacityPerSecond: 90, quality, qualityLow: qualityBand.low, p95Seconds, p95Band };
    const made = { ...figures, share: stages.map(({ share }) => share) };
    const forecast = { requestsPerSecond: RATE, basis: "", models: ["qwen2.5-3b", "qwen2.5-7b"], inForce: made, changed: made };
    return { forecast, changed: { ...plan, policy, policyHash: "changed" } };
  }
  const told = (served: Served, under: Plan, made: ControlChange, shown: LiveFrame) => {
    store.controlChanges.insert(made);
    return open({ ...served, under }, shown).lastChange(clusterId)!;
  };
  const words = ({ figures }: MeasuredChange) => Object.fromEntries(figures.map(({ name, verdict }) => [name, verdict]));

  test("is measured under its own policy alone, and each figure is held against its forecast", async () => {
    const { approvedRanges } = plan.policy as CascadePolicy;
    const threshold = approvedRanges.thresholds[0]!.max;
    const { forecast, changed } = await forecastAt(threshold);
    const p95Seconds = forecast.changed.p95Seconds!;
    const kept = told({ rate: RATE, p95Seconds }, changed, change(threshold, forecast), frame({ policyHash: "changed" }));
    expect(kept).toMatchObject({ notComparable: null, change: { actor: "ana", to: { thresholds: [threshold] } } });
    expect(kept.requests).toBeGreaterThan(0.9 * RATE * WINDOW);
    expect(words(kept)).toEqual({
      "score of accepted answers": "kept",
      "p95 end to end": "kept",
      "share reaching qwen2.5-7b": "kept",
    });
    const slow = told({ rate: RATE, p95Seconds: 3 * p95Seconds }, changed, change(threshold, forecast), frame({ policyHash: "changed" }));
    expect(words(slow)["p95 end to end"]).toBe("broken");
    // Requests that the policy before it decided are not its own.
    const before = told({ rate: RATE, p95Seconds }, plan, change(threshold, forecast), frame({ policyHash: "changed" }));
    expect(before.requests).toBe(0);
    expect(new Set(Object.values(words(before)))).toEqual(new Set(["too little measured"]));
  });

  test("is compared with nothing where another change followed, or where no forecast was made", async () => {
    const { forecast, changed } = await forecastAt(50);
    const served = { rate: RATE, p95Seconds: 1 };
    const again = told(served, changed, change(50, forecast), frame({ policyHash: "third" }));
    expect(again.notComparable).toMatch(/^The controls were changed again since/);
    expect(new Set(Object.values(words(again)))).toEqual(new Set(["not comparable"]));
    const blind = told(served, changed, change(50, null), frame({ policyHash: "changed" }));
    expect(blind).toMatchObject({ figures: [], notComparable: "No forecast was made before this change." });
    store.controlChanges.insert({ ...change(50, null), planId: "another" });
    expect(open(served).lastChange(clusterId)).toBeNull();
  });
});
