import { describe, expect, it } from "vitest";
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

/** A floor between the smallest and the largest model, so that at least one model meets it and at least one does not. */
const FLOOR = instance.floor;

describe("baselines", () => {
  it("keep to the GPUs and promise the floor on the half they plan on", () => {
    for (const baseline of [
      cascadeServe(situation(FLOOR)),
      routerBeforeAnswering(situation(FLOOR), 0.69),
      routerBeforeAnswering(situation(FLOOR), 1),
      standAlone(situation(FLOOR), ladder.length - 1),
    ]) {
      const system = systemOf(baseline);
      expect(gpusOf(system)).toBeLessThanOrEqual(maxGpus);
      expect(routedBy(system, outcomes, rows).quality).toBeGreaterThanOrEqual(FLOOR);
    }
  });

  it("say so when they cannot reach the floor", () => {
    const refusals = [cascadeServe(situation(100)), routerBeforeAnswering(situation(100), 0.69), standAlone(situation(100), 0)].map(
      (baseline) => (baseline.outcome === "none" ? baseline.reason : ""),
    );
    for (const reason of refusals) expect(reason).toContain("floor of 100");
  });

  it("are the same twice", () => {
    expect(cascadeServe(situation(FLOOR))).toEqual(cascadeServe(situation(FLOOR)));
    expect(routerBeforeAnswering(situation(FLOOR), 0.69)).toEqual(routerBeforeAnswering(situation(FLOOR), 0.69));
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
