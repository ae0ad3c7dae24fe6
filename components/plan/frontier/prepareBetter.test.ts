import { expect, it } from "vitest";
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
});
const planned = { routing: { models: ["small", "large"], thresholds: [60] }, figures };
const banner = (routing: NamedBaseline["routing"]) => prepareBetter({ baseline: baseline(routing), axis: "latency", by: 0.5 }, planned);

it("names the baseline and its figure, and can be planned where it is thresholds of its own", () => {
  const own = { models: ["small", "large"], thresholds: [40] };
  expect(banner(own)).toEqual({
    key: "baseline 2",
    says: "The baseline CascadeServe is better than this plan: p95 2.50\u00a0s instead of 3.00\u00a0s. It is the recommendation: plan it to apply it.",
    plannable: { kind: "thresholds", routing: own },
    reason: null,
  });
});

it("says why a baseline cannot be planned: a modelled router, or the same thresholds on other replicas", () => {
  expect(banner(null).reason).toContain("knows which answers are right");
  expect(banner(planned.routing)).toMatchObject({ plannable: { kind: "replicas" } });
  expect(prepareBetter({ baseline: baseline(planned.routing), axis: "cost", by: 1 }, { routing: null, figures }).plannable.kind).toBe(
    "thresholds",
  );
});

it("offers cascade routing as the plan: the planner chooses its models and trade-off", () => {
  const gain: NamedBaseline = { ...baseline(null), name: "cascade routing", policy: "cascade-routing" };
  const offered = prepareBetter({ baseline: gain, axis: "latency", by: 0.5 }, planned);
  expect(offered).toMatchObject({ plannable: { kind: "cascade-routing" }, reason: null });
  expect(offered.says).toContain("plan it to apply it");
  expect(baselineChange({ kind: "cascade-routing" }, "cascade")).toEqual({ policy: "cascade-routing", fixed: null, tau: null });
});

it("offers a trained router as the plan: thresholds of 0 and the scores to start at, with the predictor that gives them", () => {
  const router = { models: ["small", "large"], thresholds: [0], startBelow: 55 };
  expect(banner(router)).toMatchObject({ plannable: { kind: "thresholds", routing: router }, reason: null });
  expect(baselineChange({ kind: "thresholds", routing: router }, "cascade")).toEqual({ fixed: router, router: "trained" });
  expect(baselineChange({ kind: "thresholds", routing: { models: ["small", "large"], thresholds: [40] } }, "cascade")).not.toHaveProperty(
    "router",
  );
});
