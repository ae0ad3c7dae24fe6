import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import type { Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { planningSample, routePrompts } from "@/solver/cascade/routing/routing";
import type { Objective } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { loadGlpkEngine } from "./glpkEngine";
import { Cancelled, createPlanningDesk, type PlanningDesk } from "./planningDesk";

const workload = generatedWorkload({ prompts: 400, seed: 5 });
const models = workload.outcomes.models.map(({ model }) => model);
const [small = "", , large = ""] = models;
const situation: PlanningSituation = {
  workload,
  workloadId: "made-up",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 10,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 40,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};
const never = () => false;

function varied(desk: PlanningDesk, around: NonNullable<SolveRequest["fixed"]>): Exploration {
  const answer = desk.work(situation, { kind: "explore", around }, never);
  if (answer.kind !== "exploration") throw new Error(JSON.stringify(answer));
  return decodeExploration(answer.exploration);
}

function reasonFor(desk: PlanningDesk, fixed: NonNullable<SolveRequest["fixed"]>, at: Partial<PlanningSituation> = {}): string {
  const answer = desk.work({ ...situation, ...at }, { kind: "solve", objective, fixed }, never);
  return answer.kind === "infeasible" ? answer.answer.reason : answer.kind;
}

describe("a routing composed by hand", () => {
  let desk: PlanningDesk;
  beforeAll(async () => {
    desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
  });

  it("is explored with every routing that differs from it in one threshold, and no other", () => {
    const sample = planningSample(workload.outcomes, splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning, models);
    const [lowest, middle] = [0, 1].map((model) => sample.judged[model] ?? new Float64Array());
    const lines = varied(desk, { models, thresholds: [55, 60] });
    const [first] = lines.routings;
    const held = first?.thresholds ?? [];
    for (const { stages, thresholds } of lines.routings) {
      expect(stages).toEqual([0, 1, 2]);
      expect(thresholds.filter((threshold, stage) => threshold !== held[stage]).length).toBeLessThanOrEqual(1);
    }
    // For every threshold on a line, some listed one accepts exactly the same answers.
    for (const [stage, judged] of [lowest, middle].entries())
      for (let asked = 0; asked <= 100; asked += 1) {
        const same = lines.routings.some(
          ({ thresholds }) =>
            thresholds.every((threshold, at) => at === stage || threshold === held[at]) &&
            judged?.every((score) => score >= asked === score >= (thresholds[stage] ?? 0)),
        );
        expect(same || asked === 100, `${asked} at stage ${stage}`).toBe(true);
      }
  });

  it("has on its line the quality and shares that routing the prompts shows, and the estimate that a search gives it", () => {
    const sample = planningSample(workload.outcomes, splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning, models);
    const lines = varied(desk, { models: [small, large], thresholds: [50] });
    const all = desk.work(situation, { kind: "explore" }, never);
    if (all.kind !== "exploration") throw new Error(all.kind);
    const exploration = decodeExploration(all.exploration);
    const knobs: Knobs = objective;
    const searched = candidatesFor(exploration, knobs);
    let both = 0;
    for (const [index, candidate] of candidatesFor(lines, knobs).entries()) {
      const routing = lines.routings[index];
      if (routing === undefined) throw new Error("a candidate without its routing");
      const { quality, share } = routePrompts(sample, [0, 2], routing.thresholds);
      expect(routing.quality).toBeCloseTo(quality, 9);
      expect(routing.share).toEqual(share);
      const known = exploration.routings.findIndex(
        ({ stages, thresholds, startBelow }) =>
          startBelow === 0 && stages.join() === "0,2" && thresholds.join() === routing.thresholds.join(),
      );
      if (known < 0) continue;
      both += 1;
      expect(candidate).toEqual({ ...searched[known], routing: index });
    }
    expect(both).toBeGreaterThan(5);
  });

  it("is answered the same whatever was explored around other cascades before", async () => {
    const routing = fc.subarray(models, { minLength: 1 }).chain((own) =>
      fc.record({
        models: fc.constant(own),
        thresholds: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: own.length - 1, maxLength: own.length - 1 }),
      }),
    );
    const untouched = createPlanningDesk(await loadGlpkEngine(), () => 0).work(situation, { kind: "explore" }, never);
    fc.assert(
      fc.property(routing, (around) => {
        const lines = varied(desk, around);
        expect(varied(desk, around)).toEqual(lines);
      }),
      { numRuns: 8 },
    );
    expect(desk.work(situation, { kind: "explore" }, never)).toEqual(untouched);
  });

  it("does not make the search again when nobody waits for it any more", async () => {
    const fresh = createPlanningDesk(await loadGlpkEngine(), () => 0);
    fresh.work(situation, { kind: "explore" }, never);
    const soon = () => {
      let asked = 0;
      return () => {
        asked += 1;
        return asked > 2;
      };
    };
    const around = { models, thresholds: [55, 60] };
    expect(() => fresh.work(situation, { kind: "explore", around }, soon())).toThrow(Cancelled);
    expect(() => fresh.work(situation, { kind: "solve", objective, fixed: around }, soon())).toThrow(Cancelled);
    let again = 0;
    fresh.work(situation, { kind: "explore" }, () => {
      again += 1;
      return false;
    });
    expect(again).toBeLessThan(5);
  });

  it("is refused in one sentence that says what is impossible", () => {
    expect(reasonFor(desk, { models: [small, large], thresholds: [0] })).toBe(
      `Every answer of ${small} scores 0 or more on this workload, so no request reaches ${large}: raise the threshold or leave ${large} out.`,
    );
    expect(reasonFor(desk, { models: [large, small], thresholds: [50] })).toContain("goes from the smaller to the larger model");
    expect(reasonFor(desk, { models: [small, "gpt-9"], thresholds: [50] })).toContain("gpt-9 is not among the models to plan with");
    const one = { ...situation.cluster, nodes: [{ name: "node1", gpus: 1 }] };
    expect(reasonFor(desk, { models: [small, large], thresholds: [50] }, { cluster: one })).toBe(
      `${small} > ${large} needs 2 GPUs for one replica of each of its models, of 1 there are. Allow more GPUs or leave a model out.`,
    );
    const little = { ...one, gpu: "l40s" };
    expect(reasonFor(desk, { models: [small, large], thresholds: [50] }, { cluster: little })).toBe(
      `${large} fits on no replica that the GPUs here allow: leave it out.`,
    );
    const answer = desk.work(
      { ...situation, requestsPerSecond: 400 },
      { kind: "solve", objective, fixed: { models: [small, large], thresholds: [100] } },
      never,
    );
    if (answer.kind !== "infeasible") throw new Error(answer.kind);
    expect(answer.answer.reason).toMatch(/is overloaded at 400 requests\/s on 8 GPUs at these thresholds/);
  });
});
