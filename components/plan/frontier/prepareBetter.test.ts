import { expect, it } from "vitest";
import { noConstraints } from "@/solver/plan/constraints";
import { baselineChange } from "./planChange";
import { prepareBetter } from "./prepareBetter";
import type { NamedBaseline } from "./useBaselines";

const figures = { quality: 82, latency: 3, cost: 0.002, gpus: 16 };
const baseline = (routing: NamedBaseline["routing"]): NamedBaseline => ({
  key: "baseline 2",
  number: 2,
  name: "CascadeServe",
  attainable: true,
  cascade: "small (2 × tp 1)",
  routing,
  quality: 83,
  figures: { ...figures, latency: 2.5 },
  deployed: [
    { model: "small", replicas: [{ shape: { tp: 1, pp: 1 }, count: 2 }] },
    { model: "large", replicas: [{ shape: { tp: 4, pp: 1 }, count: 3 }] },
  ],
});
const view = { policy: "cascade", constraints: noConstraints } as const;
const planned = { routing: { models: ["small", "large"], thresholds: [60] }, figures };
const banner = (routing: NamedBaseline["routing"]) => prepareBetter({ baseline: baseline(routing), axis: "latency", by: 0.5 }, planned);

it("names the baseline and its figure, and can be planned where it is thresholds of its own", () => {
  const own = { models: ["small", "large"], thresholds: [40] };
  expect(banner(own)).toEqual({
    key: "baseline 2",
    says: "The baseline CascadeServe is better than this plan: p95 2.50\u00a0s instead of 3.00\u00a0s. It is the recommendation: plan it to apply it.",
    plannable: { kind: "thresholds", routing: own },
  });
});

it("says why a baseline cannot be planned: a modelled router, or the plan's thresholds on replicas of several shapes", () => {
  expect(banner(null)).toMatchObject({ plannable: null, says: expect.stringContaining("knows which answers are right") });
  const mixed = { model: "small", replicas: [1, 2].map((tp) => ({ shape: { tp, pp: 1 }, count: 2 })) };
  const several = { ...baseline(planned.routing), deployed: [mixed] };
  expect(prepareBetter({ baseline: several, axis: "latency", by: 0.5 }, planned)).toMatchObject({
    plannable: null,
    says: expect.stringContaining("several shapes"),
  });
});

it("offers the plan's thresholds on other replicas with these as constraints, and keeps the other constraints", () => {
  const { plannable, says } = banner(planned.routing);
  expect(says).toContain("plan it with these as constraints");
  if (plannable === null) throw new Error("it cannot be planned");
  const asked = {
    ...noConstraints,
    maxUsdPerHour: 90,
    excluded: ["large"],
    shapes: [
      { model: "small", tp: 2, pp: 1 },
      { model: "other", tp: 8, pp: 1 },
    ],
  };
  expect(baselineChange(plannable, { policy: "cascade", constraints: asked })).toEqual({
    fixed: planned.routing,
    constraints: {
      ...asked,
      excluded: [],
      pinned: [
        { model: "small", replicas: 2 },
        { model: "large", replicas: 3 },
      ],
      shapes: [
        { model: "other", tp: 8, pp: 1 },
        { model: "small", tp: 1, pp: 1 },
        { model: "large", tp: 4, pp: 1 },
      ],
    },
  });
  const other = prepareBetter({ baseline: baseline(planned.routing), axis: "cost", by: 1 }, { routing: null, figures });
  expect(other.plannable?.kind).toBe("thresholds");
});

it("offers cascade routing as the plan: the planner chooses its models and trade-off", () => {
  const gain: NamedBaseline = { ...baseline(null), name: "cascade routing", policy: "cascade-routing" };
  const offered = prepareBetter({ baseline: gain, axis: "latency", by: 0.5 }, planned);
  expect(offered).toMatchObject({ plannable: { kind: "cascade-routing" } });
  expect(offered.says).toContain("plan it to apply it");
  expect(baselineChange({ kind: "cascade-routing" }, view)).toEqual({ policy: "cascade-routing", fixed: null, tau: null });
});

it("offers a trained router as the plan: thresholds of 0 and the scores to start at, with the predictor that gives them", () => {
  const router = { models: ["small", "large"], thresholds: [0], startBelow: 55 };
  expect(banner(router)).toMatchObject({ plannable: { kind: "thresholds", routing: router } });
  expect(baselineChange({ kind: "thresholds", routing: router }, view)).toEqual({ fixed: router, router: "trained" });
  expect(baselineChange({ kind: "thresholds", routing: { models: ["small", "large"], thresholds: [40] } }, view)).not.toHaveProperty(
    "router",
  );
});
