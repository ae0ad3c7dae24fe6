import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { LiveFrame } from "@/server/contracts/studio";
import type { PromiseReport } from "@/server/contracts/studio/promise";
import { createPlanner } from "@/server/planning/planner/planner";
import type { Resolved } from "@/server/planning/planner/planningRequest";
import { openStore, type Store } from "@/server/store/store";
import { seededRandom } from "@/solver/numeric/random";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import type { Plan } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import type { Workload } from "@/solver/workload/workload";
import { createPlanTraffic } from "./planTraffic";
import { createPredictionMonitor, type PromiseSource } from "./predictionMonitor";
import { testDecisions } from "./testing/testDecisions";

const [SMALL, LARGE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;
const workload = shortWorkload({ prompts: 2000, ladder: [SMALL, LARGE], seed: 4 });
const WINDOW = 250;
const START_MS = Date.parse("2026-01-01T12:00:00Z");
const NOW_MS = START_MS + WINDOW * 1000;
const PLANNED_JUDGE_SECONDS = 0.27;

const planner = createPlanner();
let folder: string;
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-worlds-"));
  store = openStore(folder);
});
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** The true traffic and engines, as opposed to the planned ones. */
interface World {
  readonly rate?: number;
  readonly judgeSeconds?: number;
  readonly traffic?: Workload;
  /** Factor between the engines' times and the planner's own model in this world. */
  readonly slower?: number;
}

const request = (of: Partial<Resolved<SolveRequest>>, rate: number): Resolved<SolveRequest> => ({
  workload,
  workloadId: "planned",
  cluster: { id: "c", name: "c", kind: "described", gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }], usdPerGpuHour: 1 },
  requestsPerSecond: rate,
  judge: { kind: "fixed", secondsPerCall: PLANNED_JUDGE_SECONDS, usdPerCall: 0 },
  fixed: { models: [SMALL, LARGE], thresholds: [50] },
  objective: {
    ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30 },
    ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
  },
  ...of,
});

async function planFor(asked: Resolved<SolveRequest>): Promise<Plan> {
  const answer = await planner.solve(asked);
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  return answer.plan;
}

const replica = (model: string, gpu: number): RunningReplica => ({
  model,
  shape: { tp: 1, pp: 1 },
  placements: [{ node: "node1", gpus: [gpu] }],
});
/** Attached engines of one GPU each, far from busy. */
const attached: Partial<Resolved<SolveRequest>> = {
  ...{ running: [replica(SMALL, 0), replica(LARGE, 1)], topology: "given" },
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 2 }], usdPerGpuHour: 3 },
};

/**
 * A report of the plan in the world, with the latencies that the planner finds for exactly the same replicas there.
 *
 * @param explained the document of the plan on which the report is based.
 */
async function reportOf(plan: Plan, asked: Resolved<SolveRequest>, world: World, explained: Plan = plan): Promise<PromiseReport> {
  const { rate = asked.requestsPerSecond, judgeSeconds = PLANNED_JUDGE_SECONDS, traffic = workload, slower = 1 } = world;
  const there = await planFor({
    ...asked,
    ...{ workload: traffic, workloadId: `world ${JSON.stringify([rate, traffic.name])}`, requestsPerSecond: rate },
    ...{ judge: { kind: "fixed", secondsPerCall: judgeSeconds, usdPerCall: 0 }, running: runningReplicas(plan) },
    ...{ topology: "given", withIdleStages: true },
  });
  const random = seededRandom(7);
  const p95Seconds = slower * there.predictions.p95Seconds;
  const decisions = testDecisions(
    { plan, workload: traffic, timeScale: 1, startMs: START_MS },
    { fromSeconds: 0, seconds: WINDOW },
    { rate },
  )
    .map((decision): Decision => {
      const endToEndSeconds = p95Seconds * Math.exp(0.3 * (random.normal() - 1.645));
      const stages = decision.stages.map((stage) => {
        const predicted = there.predictions.stages.find(({ model }) => model === stage.model)?.p95Seconds ?? 0;
        const seconds = slower * predicted * Math.exp(0.3 * (random.normal() - 1.645));
        return { ...stage, seconds, judgeSeconds: stage.judgedScore === null ? null : judgeSeconds };
      });
      return {
        ...decision,
        stages,
        endToEndSeconds,
        finishedAtMs: decision.finishedAtMs + (endToEndSeconds - decision.endToEndSeconds) * 1000,
      };
    })
    .filter(({ finishedAtMs }) => finishedAtMs <= NOW_MS)
    .sort((a, b) => b.finishedAtMs - a.finishedAtMs);
  const frame = {
    ...{ atMs: NOW_MS, clusterId: "c", planId: plan.id, timeScale: 1, measured: { requests: 0, windowSeconds: WINDOW } },
    engines: runningReplicas(plan).map(({ model, placements }, at) => ({
      ...{ id: `e${at}`, model, health: "serving" },
      gpus: placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index }))),
    })),
    gateway: { state: "fresh", reason: "", routing: { planId: plan.id, policyHash: plan.policyHash, controls: null } },
  } as unknown as LiveFrame;
  const seen = createPlanTraffic({ plan: explained, workload, timeScale: 1, windowSeconds: 300, before: null, nowMs: START_MS });
  const source: PromiseSource = {
    ...{
      decisions: () => decisions,
      mirrored: () => [],
      timeScale: 1,
      frame: () => frame,
      labelOf: () => null,
      emulated: false,
      emulatedAsPlanned: false,
    },
  };
  const desk = createPredictionMonitor({ store, planner, trafficOf: () => seen, sourceOf: () => source });
  for (;;) {
    const report = desk.report("c", START_MS);
    if (report === null) throw new Error("Nothing is reported.");
    if (!report.simulating) {
      await desk.close();
      return report;
    }
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

const brokenOf = ({ broken }: PromiseReport, promise: string) => {
  const found = broken.find((one) => one.promise === promise);
  if (found === undefined) throw new Error(`${promise} is not broken, but ${broken.map((one) => one.promise).join(", ")}`);
  return found;
};

/** Scores of the smaller model so many points lower, and all else as it is. */
const scoresLower = (points: number): Workload => ({
  ...workload,
  name: `scores ${points} lower`,
  outcomes: {
    ...workload.outcomes,
    models: workload.outcomes.models.map((column) =>
      column.model === SMALL ? { ...column, judged: Float64Array.from(column.judged, (score) => Math.max(0, score - points)) } : column,
    ),
  },
});
const answersLonger = (factor: number): Workload => ({
  ...workload,
  name: `answers ${factor} times as long`,
  outcomes: {
    ...workload.outcomes,
    models: workload.outcomes.models.map((column) => ({
      ...column,
      outputTokens: column.outputTokens.map((tokens) => Math.round(factor * tokens)),
    })),
  },
});

describe("of a promise that is broken for one reason, that reason is named", { timeout: 120_000 }, () => {
  const P95 = "p95 end to end";
  const SHARE = `share reaching ${LARGE}`;
  const worlds: readonly (readonly [name: string, world: World, promise: string, says: RegExp])[] = [
    ["more requests", { rate: 48 }, P95, /With the rate as measured the plan predicts .*: it explains it\./],
    ["a slower judge", { judgeSeconds: 8 }, P95, /With the time of a judgement as measured the plan predicts .*: it explains it\./],
    ["longer answers", { traffic: answersLonger(2.2) }, P95, /With the lengths as measured the plan predicts .*: they explain it\./],
    [
      "scores of the smaller model that shifted",
      { traffic: scoresLower(20) },
      SHARE,
      /With the scores as measured the plan predicts \d+ %: they explain it\./,
    ],
  ];
  it.each(worlds)("%s", async (_, world, promise, says) => {
    const asked = request({}, 20);
    const plan = await planFor(asked);
    expect(brokenOf(await reportOf(plan, asked, world), promise).says).toMatch(says);
  });

  it("more requests and a slower judge at once: each is named with its part, and both together explain it", async () => {
    const asked = request({}, 20);
    const { says } = brokenOf(await reportOf(await planFor(asked), asked, { rate: 44, judgeSeconds: 1.6 }), P95);
    expect(says).toMatch(/With the time of a judgement as measured the plan predicts .*: it explains (most|a part) of it\./);
    expect(says).toMatch(/With the rate as measured the plan predicts .*: it explains (most|a part) of it\./);
    expect(says).toMatch(/With all that moved as measured the plan predicts .*: they explain it\./);
  });
});

describe("on attached engines that are far from busy", { timeout: 120_000 }, () => {
  it("scores that shifted are put in place of those planned, and named as the cause", async () => {
    const asked = request(attached, 1);
    const { says } = brokenOf(await reportOf(await planFor(asked), asked, { traffic: scoresLower(40) }), `share reaching ${LARGE}`);
    expect(says).toMatch(/With the scores as measured the plan predicts \d+ %: they explain it\./);
    expect(says).not.toMatch(/could not be put in place|nothing can be put in place|unexplained/);
  });

  it("scores that shifted are the cause where lengths are all alike and shorter too, and where no request is sent on any more", async () => {
    const asked = request(attached, 1);
    const plan = await planFor(asked);
    const alike = (judged: number): Workload => ({
      ...workload,
      name: `all alike, judged ${judged}`,
      outcomes: {
        ...workload.outcomes,
        inputTokens: workload.outcomes.inputTokens.map(() => 50),
        models: workload.outcomes.models.map((column) => ({
          ...column,
          outputTokens: column.outputTokens.map(() => 20),
          judged: column.judged.map(() => judged),
        })),
      },
    });
    for (const [judged, share] of [
      [20, "100 %"],
      [80, "0 %"],
    ] as const) {
      const { says } = brokenOf(await reportOf(plan, asked, { traffic: alike(judged) }), `share reaching ${LARGE}`);
      expect(says).toContain(`With the scores as measured the plan predicts ${share}: they explain it.`);
      expect(says).not.toContain("the lengths");
    }
  });

  it("a judge that is faster than planned is no cause of slow engines, and is not said to overload them", async () => {
    const asked = request(attached, 1);
    const report = await reportOf(await planFor(asked), asked, { judgeSeconds: 0.052, slower: 3 });
    expect(report.inputs.find(({ name }) => name === "time of a judgement")).toMatchObject({ state: "moved" });
    const { says, slowEngines } = brokenOf(report, "p95 end to end");
    expect(says).toContain("it is better than planned and no cause");
    expect(says).not.toMatch(/overloaded|explains it\./);
    expect(slowEngines).toBe(true);
  });
});

it("replicas that fit their GPUs no longer by the cards are said not to be simulated, not to be overloaded", {
  timeout: 60_000,
}, async () => {
  const asked = request(attached, 1);
  const plan = await planFor(asked);
  // As where the operator's card of the model was wrong: no shape of two GPUs fits a node of one.
  const nodes = [0, 1].map((gpu) => ({ name: `node${gpu + 1}`, gpus: 1 }));
  const wide = plan.deployment.map((own) => ({ ...own, replicas: own.replicas.map((group) => ({ ...group, tp: 2 })) }));
  const changed = { ...plan, deployment: wide, inputs: { ...plan.inputs, cluster: { ...plan.inputs.cluster, nodes } } };
  const { says } = brokenOf(await reportOf(plan, asked, { traffic: scoresLower(40) }, changed), `share reaching ${LARGE}`);
  expect(says).toContain(
    "With the scores as measured nothing could be simulated: the planner does not find the plan as it was planned to run either",
  );
  expect(says).not.toContain("overloaded");
});
