import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createExplorer } from "../cascade/explore/explore";
import { planningSample, routePrompts } from "../cascade/routing/routing";
import { shortestStart } from "../plan/directStart";
import { withRouterScores } from "../workload/modelledRouter";
import { drawSample } from "../workload/sample";
import { allBaselines, balancedRows, countOfBaselines } from "./allBaselines";
import { figuresOf } from "./baselineFigures";
import { cascadeServe } from "./cascadeServe";
import { routedBy } from "./measure";
import { instanceExplorer, randomInstance } from "./randomInstance";
import { routerBeforeAnswering } from "./routerBeforeAnswering";
import type { BaselineSituation } from "./situation";
import { standAlone } from "./standAlone";
import { tunedStepBudget } from "./stepBudget";
import { type Baseline, clusterReplicas, gpusOf, type System } from "./system";
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

  it("plans the same from the traffic's own profile as with the traffic known, and another name", () => {
    const own = systemOf(cascadeServe(situation(FLOOR)));
    expect(systemOf(cascadeServe(situation(FLOOR), explorer))).toEqual({ ...own, name: "CascadeServe, complexity-blind" });
  });

  it("keeps the floor on the traffic whatever it was profiled on", () => {
    const { sample } = explorer.input;
    const largest = sample.label.length - 1;
    const labelled = (label: (model: number) => number) =>
      createExplorer({
        ...explorer.input,
        sample: { ...sample, label: sample.label.map((values, model) => values.map(() => label(model))) },
      });
    for (const label of [() => 100, () => 0, (model: number) => (model === largest ? 100 : 0)]) {
      const blind = systemOf(cascadeServe(situation(FLOOR), labelled(label)));
      expect(routedBy(blind, outcomes, rows).quality).toBeGreaterThanOrEqual(FLOOR);
    }
  });
});

describe("a tuned step budget", () => {
  it("is a setting of the engines that are simulated, and no slower alone than the default one by its own tables", () => {
    const system = systemOf(tunedStepBudget(situation(0), 0));
    const budget = system.stages[0]?.limits?.maxBatchedTokens ?? 0;
    expect(budget).toBeGreaterThanOrEqual(512);
    const engines = clusterReplicas(system, { models: ladder, shapes: explorer.input.shapes });
    for (const { replica } of engines) expect(replica.maxBatchedTokens).toBe(budget);
    expect(gpusOf(system)).toBeLessThanOrEqual(maxGpus);
  });

  it("says so when the model cannot reach the floor", () => {
    const refused = tunedStepBudget(situation(100), 0);
    expect(refused.outcome === "none" ? refused.reason : "").toContain("floor of 100");
  });
});

describe("the baselines of a plan", () => {
  it("are as many as are announced, and have one stand-alone model at most", () => {
    const made = [
      ...allBaselines({ ...situation(FLOOR), trained: "None was trained." }, { stages: [0, 1], thresholds: [50], startBelow: 0 }),
    ];
    expect(made).toHaveLength(countOfBaselines(ladder.length));
    expect(made.filter(({ kind, baseline }) => kind === "stand-alone" && baseline.outcome === "system").length).toBeLessThanOrEqual(1);
    expect(made.find(({ kind }) => kind === "CascadeServe, complexity-blind")?.baseline).toMatchObject({ outcome: "none" });
  });

  it("profile on as many prompts of each category as the rarest has, and on none where there is one category", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 60 }), (categories) => {
        const found = balancedRows(Int32Array.from(categories.keys()), categories);
        const kinds = [...new Set(categories)];
        expect(found === null).toBe(kinds.length === 1);
        if (found === null) return;
        const counts = kinds.map((kind) => Array.from(found).filter((row) => categories[row] === kind).length);
        expect(new Set(counts)).toEqual(new Set([Math.min(...kinds.map((kind) => categories.filter((own) => own === kind).length))]));
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });
});

const mean = (values: Int32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
