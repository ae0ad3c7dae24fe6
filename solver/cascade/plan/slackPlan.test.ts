import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import type { BuildPlanInput, NoPlan, Planned } from "./planInput";
import { planWithSlack } from "./slackPlan";

const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 60,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
  slack: 0.2,
};

interface Made {
  readonly qualityLow: number;
  readonly seconds: number;
  readonly gpus: number;
  /** Distinguishes deployments of the same figures. */
  readonly name?: string;
}

/** A plan with these figures; only the fields that a slack reads. */
function made({ qualityLow, seconds, gpus, name = "plan" }: Made, recorded: Objective): Planned {
  const draft = {
    metadata: { name },
    deployment: [{ gpus }],
    policy: { stages: [{ model: "small" }, { model: "large" }], thresholds: [40] },
    inputs: { objective: recorded },
    predictions: {
      ...{ quality: qualityLow + 1, qualityBand: { low: qualityLow } },
      ...{ p95Seconds: seconds, largestStageP95Seconds: seconds, costUsdPerRequest: gpus / 1000 },
    },
    solver: { why: [], alternatives: [] },
  };
  const why = { limits: [`${name} limits`], says: [`${name} says`], alternatives: [`${name} alternatives`] };
  return { outcome: "plan", draft: draft as unknown as PlanDraft, heldSeconds: seconds, why };
}

const none: NoPlan = { outcome: "infeasible", kind: "no-room", reason: "", bestQuality: null, bestLatencySeconds: null };

/** Plans with made figures: of the fastest, of the highest quality or lowest cost, and of its routing on the fewest GPUs. */
function planned(asked: Objective, plans: { readonly fastest: Made | null; readonly sought: Made | null; readonly fewest?: Made | null }) {
  const questions: { readonly objective: Objective; readonly fixed: BuildPlanInput["fixed"] }[] = [];
  const input = {
    objective: asked,
    fixed: null,
    explorer: { input: { sample: { models: ["small", "large"] } } },
  } as unknown as BuildPlanInput;
  const found = planWithSlack(input, (question, recorded) => {
    questions.push(question);
    const figures = question.fixed !== null ? plans.fewest : questions.length === 1 ? plans.fastest : plans.sought;
    return figures == null ? none : made(figures, recorded);
  });
  return { found, questions };
}

describe("planWithSlack", () => {
  const fastest = { qualityLow: 62, seconds: 10, gpus: 8, name: "fastest" };
  const sought = { qualityLow: 64, seconds: 11.5, gpus: 8, name: "sought" };

  it("looks for the highest quality within the slack of the fastest plan, then for the fewest GPUs of its routing", () => {
    const fewest = { qualityLow: 64, seconds: 11.9, gpus: 6, name: "fewest" };
    const { found, questions } = planned(objective, { fastest, sought, fewest });
    expect(questions.map((question) => [question.objective.kind, question.objective.latencyBudgetSeconds, question.fixed])).toEqual([
      ["latency-under-quality", null, null],
      ["quality-under-latency", 12, null],
      ["cost-under-both", 12, { stages: [0, 1], thresholds: [40], startBelow: 0 }],
    ]);
    expect(questions.every((question) => question.objective.slack === undefined)).toBe(true);
    if (found.outcome !== "plan") throw new Error("no plan");
    expect(found.draft).toMatchObject({ metadata: { name: "fewest" }, inputs: { objective } });
    expect(found.draft.solver.slack).toEqual({
      slack: 0.2,
      limitSeconds: 12,
      fastest: { quality: 63, qualityLow: 62, p95Seconds: 10, gpus: 8, costUsdPerRequest: 0.008 },
    });
    expect(found.draft.solver.why).toEqual([
      "Slack 20 %: p95 may rise from 10.0 s, the fastest at this floor, to 12.0 s; it buys 2.0 points and 2 GPUs.",
      "fewest says",
      "sought alternatives",
    ]);
  });

  it("looks for the lowest cost where that is the objective, within the budget however large the slack", () => {
    const asked: Objective = { ...objective, kind: "cost-under-both", latencyBudgetSeconds: 11, slack: 0.5 };
    const { found, questions } = planned(asked, { fastest, sought: { ...sought, seconds: 11, gpus: 5 } });
    expect(questions.map((question) => [question.objective.kind, question.objective.latencyBudgetSeconds])).toEqual([
      ["latency-under-quality", 11],
      ["cost-under-both", 11],
    ]);
    expect(found.outcome === "plan" && found.draft.metadata.name).toBe("sought");
  });

  it("keeps the fastest plan, with what limits it, where nothing better is found within the slack", () => {
    for (const other of [null, { ...sought, seconds: 12.5 }, { ...sought, qualityLow: 61 }]) {
      const { found } = planned(objective, { fastest, sought: other, fewest: null });
      if (found.outcome !== "plan") throw new Error("no plan");
      expect(found.draft.metadata.name).toBe("fastest");
      expect(found.draft.solver.why[0]).toContain("nothing better fits into it");
      expect(found.draft.solver.why).toContain("fastest limits");
    }
  });

  it("has no plan exactly where there is no fastest one", () => {
    expect(planned(objective, { fastest: null, sought }).found).toBe(none);
  });

  it("never ends with a plan over the limit, nor with one that is worse than the fastest", () => {
    const figures = fc.record({
      qualityLow: fc.integer({ min: 60, max: 64 }),
      seconds: fc.double({ min: 9, max: 14, noNaN: true }),
      gpus: fc.integer({ min: 4, max: 8 }),
    });
    const maybe = fc.option(figures);
    const asked = fc.record({
      slack: fc.double({ min: 0.01, max: 1, noNaN: true }),
      kind: fc.constantFrom<Objective["kind"]>("latency-under-quality", "cost-under-both"),
    });
    fc.assert(
      fc.property(figures, maybe, maybe, asked, (first, second, third, { slack, kind }) => {
        // A routing on fewer GPUs keeps its quality.
        const best =
          second !== null && second.seconds <= (1 + slack) * first.seconds && second.qualityLow > first.qualityLow ? second : first;
        const fewest = third === null ? null : { ...third, qualityLow: best.qualityLow };
        const { found } = planned({ ...objective, slack, kind }, { fastest: first, sought: second, fewest });
        if (found.outcome !== "plan") throw new Error("no plan");
        const { qualityBand, p95Seconds, costUsdPerRequest } = found.draft.predictions;
        expect(p95Seconds).toBeLessThanOrEqual((1 + slack) * first.seconds);
        if (kind === "cost-under-both" || qualityBand.low === first.qualityLow)
          expect(costUsdPerRequest).toBeLessThanOrEqual(first.gpus / 1000);
        else expect(qualityBand.low).toBeGreaterThan(first.qualityLow);
      }),
    );
  });
});
