import { describe, expect, it } from "vitest";
import { planningSample, routePrompts } from "../cascade/routing/routing";
import { shortestStart } from "../plan/directStart";
import { withRouterScores } from "../workload/modelledRouter";
import { drawSample } from "../workload/sample";
import { figuresOf } from "./baselineFigures";
import { cascadeServe } from "./cascadeServe";
import { routedBy } from "./measure";
import { instanceExplorer, randomInstance } from "./randomInstance";
import { routerBeforeAnswering } from "./routerBeforeAnswering";
import type { BaselineSituation } from "./situation";
import { standAlone } from "./standAlone";
import { type Baseline, gpusOf, type System } from "./system";
import { uniformAllocation, uniformParallelism } from "./uniform";

const instance = randomInstance(3);
const explorer = instanceExplorer(instance);
const { outcomes } = instance.workload;
const rows = Int32Array.from(outcomes.promptIds.keys());
const situation = (floor: number): BaselineSituation => ({ explorer, floor, nodes: instance.cluster.nodes, outcomes, planning: rows });
const { maxGpus } = explorer.input;
const ladder = explorer.input.sample.models;

function systemOf(baseline: Baseline): System {
  if (baseline.outcome === "none") throw new Error(baseline.reason);
  return baseline.system;
}

const modelled = { kind: "modelled", auc: 0.69 } as const;

/** A floor between the smallest and the largest model, so that at least one model meets it and at least one does not. */
const FLOOR = instance.floor;

describe("baselines", () => {
  it("keep to the GPUs and promise the floor on the half they plan on", () => {
    for (const baseline of [
      cascadeServe(situation(FLOOR)),
      routerBeforeAnswering(situation(FLOOR), modelled),
      routerBeforeAnswering(situation(FLOOR), { kind: "modelled", auc: 1 }),
      standAlone(situation(FLOOR), ladder.length - 1),
    ]) {
      const system = systemOf(baseline);
      expect(gpusOf(system)).toBeLessThanOrEqual(maxGpus);
      expect(routedBy(system, outcomes, rows).quality).toBeGreaterThanOrEqual(FLOOR);
    }
  });

  it("say so when they cannot reach the floor", () => {
    const refusals = [cascadeServe(situation(100)), routerBeforeAnswering(situation(100), modelled), standAlone(situation(100), 0)].map(
      (baseline) => (baseline.outcome === "none" ? baseline.reason : ""),
    );
    for (const reason of refusals) expect(reason).toContain("floor of 100");
  });

  it("have one router from the same scores, whether those are modelled or of trained heads, and only a trained one is a plan", () => {
    const table = withRouterScores(outcomes, { auc: 0.8, seed: explorer.input.seed });
    const trained = systemOf(routerBeforeAnswering(situation(FLOOR), { kind: "trained", outcomes: table }));
    const same = systemOf(routerBeforeAnswering(situation(FLOOR), { kind: "modelled", auc: 0.8 }));
    expect(trained.stages).toEqual(same.stages);
    expect({ ...trained.routing, trained: false }).toEqual(same.routing);
    const sample = drawSample(instance.workload, {
      part: "planning",
      requestsPerSecond: instance.requestsPerSecond,
      requests: 300,
      seed: 1,
    });
    const beside = { situation: situation(FLOOR), sample, latency: "end-to-end" } as const;
    expect(figuresOf(same, beside).routing).toBeNull();
    const { routing, quality, qualityLow } = figuresOf(trained, beside);
    expect(routing?.thresholds.every((threshold) => threshold === 0)).toBe(true);
    expect(routing?.startBelow).toEqual(shortestStart(trained.routing.thresholds));
    expect(quality).toBeGreaterThan(qualityLow);
    expect(qualityLow).toBeGreaterThanOrEqual(FLOOR);
    const stages = trained.stages.map(({ model }) => ladder.indexOf(model));
    const planned = routePrompts(planningSample(table, rows, ladder), stages, routing?.thresholds ?? [], routing?.startBelow);
    expect(planned.quality).toBeCloseTo(quality, 9);
  });

  it("are the same twice", () => {
    expect(cascadeServe(situation(FLOOR))).toEqual(cascadeServe(situation(FLOOR)));
    expect(routerBeforeAnswering(situation(FLOOR), modelled)).toEqual(routerBeforeAnswering(situation(FLOOR), modelled));
  });
});

describe("uniform plans", () => {
  const plan = { stages: [0, 1], thresholds: [50] };

  it("give every stage as many GPUs, or one parallelism, and keep the plan's thresholds", () => {
    const even = systemOf(uniformAllocation(situation(0), plan));
    for (const stage of even.stages) expect(gpusOf({ stages: [stage] })).toBeLessThanOrEqual(maxGpus / 2);
    const wide = systemOf(uniformParallelism(situation(0), plan));
    expect(new Set(wide.stages.flatMap(({ replicas }) => replicas.map(({ shape }) => `${shape.tp}x${shape.pp}`))).size).toBe(1);
    for (const system of [even, wide]) expect(system.routing).toEqual({ kind: "cascade", thresholds: [50] });
  });

  it("are deployed for the rate they bear where that is not the asked one", () => {
    const crowded = instanceExplorer({ ...instance, requestsPerSecond: 30 * instance.requestsPerSecond });
    const wide = systemOf(uniformParallelism({ ...situation(0), explorer: crowded }, plan));
    expect(wide.stages).toHaveLength(2);
    expect(gpusOf(wide)).toBeGreaterThan(maxGpus / 2);
  });
});

describe("CascadeServe", () => {
  it("is blind to lengths: requests twice as long for half the prompts, of the same mean, change nothing in its plan", () => {
    const { sample } = explorer.input;
    const uneven = {
      ...explorer.input,
      sample: { ...sample, inputTokens: sample.inputTokens.map(() => Math.round(mean(sample.inputTokens))) },
    };
    expect(uneven.sample.inputTokens).not.toEqual(sample.inputTokens);
    const other = { ...situation(FLOOR), explorer: { ...explorer, input: uneven } };
    expect(systemOf(cascadeServe(other)).stages).toEqual(systemOf(cascadeServe(situation(FLOOR))).stages);
  });
});

const mean = (values: Int32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
