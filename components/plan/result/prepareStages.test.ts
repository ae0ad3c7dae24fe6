import { expect, it } from "vitest";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { besideStages, extrapolated, nearSaturation, prepareStages } from "./prepareStages";

const plan = examplePlanDraft();
const [small, large] = plan.predictions.stages as [(typeof plan.predictions.stages)[number], (typeof plan.predictions.stages)[number]];

it("puts under each latency the ends of its band, and nothing where the plan gives none", () => {
  const span = { low: 1.25, high: 1.75 };
  const stages = [{ ...small, bands: { p95Seconds: span, meanSeconds: span, ttftP95Seconds: { low: 0.1, high: 0.3 } } }, large];
  const rows = prepareStages({ ...plan, predictions: { ...plan.predictions, stages } });
  expect(rows[0]?.latencies.map(({ band }) => band?.replaceAll("\u00a0", " "))).toEqual([
    "1.25 s to 1.75 s",
    "1.25 s to 1.75 s",
    "100 ms to 300 ms",
  ]);
  expect(rows[1]?.latencies.map(({ band }) => band)).toEqual([null, null, null]);
});

it("flags a stage near saturation with word, tone and reason, and only that one", () => {
  const stages = [
    { ...small, utilisation: 0.88, stability: "near-saturation" as const },
    { ...large, stability: "stable" as const },
  ];
  const rows = prepareStages({ ...plan, predictions: { ...plan.predictions, stages } });
  expect(rows[0]?.nearSaturation).toMatchObject({ tone: "warn", word: "near saturation", reason: expect.stringMatching(/^small at 88/) });
  expect(rows[1]?.nearSaturation).toBeNull();
  expect(nearSaturation(stages)?.reason).not.toContain("large");
});

it("hatches what is extrapolated, with every reason", () => {
  const word = extrapolated([{ ...small, extrapolated: ["no run on l40s was fitted", "no measured run had a pipeline"] }, large]);
  expect(word).toEqual({
    tone: "hatched",
    word: "extrapolated",
    reason: "small: no run on l40s was fitted; no measured run had a pipeline.",
  });
  expect(extrapolated([small, large])).toBeNull();
});

it("puts a share's band under it, but none where every request comes", () => {
  const stages = [
    { ...small, shareBand: { low: 1, high: 1 } },
    { ...large, shareBand: { low: 0.38, high: 0.42 } },
  ];
  const rows = prepareStages({ ...plan, predictions: { ...plan.predictions, stages } });
  expect(rows.map(({ shareBand }) => shareBand?.replaceAll("\u00a0", " ") ?? null)).toEqual([null, "38 % to 42 %"]);
  expect(prepareStages(plan).map(({ shareBand }) => shareBand)).toEqual([null, null]);
});

it("names the GPU type of replicas only on a cluster of several", () => {
  expect(prepareStages(plan)[0]?.replicas).toBe("1 × tp 1");
  const { cluster } = plan.inputs;
  const mixed = { ...plan.inputs, cluster: { ...cluster, nodes: [...cluster.nodes, { name: "node2", gpus: 1, gpu: "h100-sxm" }] } };
  const deployment = plan.deployment.map((one) => ({
    ...one,
    replicas: [...one.replicas, { tp: 1, pp: 2, count: 1, shareEach: 0.5, placements: [], gpu: "h100-sxm" }],
  }));
  expect(prepareStages({ ...plan, inputs: mixed, deployment })[0]?.replicas).toBe("1 × tp 1 on l40s, 1 × tp 1 pp 2 on h100-sxm");
});

it("says what judges and routes beside the stages, and nothing where that is as always", () => {
  const outside = "weir-judge judges outside the plan: predictions assume 270 ms a call";
  expect(besideStages(plan).map((sentence) => sentence.replaceAll("\u00a0", " "))).toEqual([`${outside}.`]);
  const inputs = { ...plan.inputs, judgeTime: { kind: "measured-from-traffic", calls: 400 } as const };
  expect(besideStages({ ...plan, inputs }).map((sentence) => sentence.replaceAll("\u00a0", " "))).toEqual([
    `${outside} (measured in traffic (400 calls)).`,
  ]);
  const judge = { model: "small", secondsPerCall: 0.31, usdPerCall: 0, engine: { rubricTokens: 400, outputTokens: 20 } };
  const policy = { ...plan.policy, judge, directStart: { below: 70, router: { kind: "modelled" as const, auc: 0.85 } } };
  expect(besideStages({ ...plan, policy }).map((sentence) => sentence.replaceAll("\u00a0", " "))).toEqual([
    "small judges on its own engine on 1 × tp 1: a call takes 310 ms on average, predicted for its load.",
    "Direct start: a request starts at the first stage with a router score of 70 or more, by a modelled router of AUC 0.85, an upper bound.",
  ]);
  const unjudged = { ...policy, thresholds: [0], approvedRanges: { thresholds: [{ min: 0, max: 12 }] } };
  expect(besideStages({ ...plan, policy: unjudged })[0]).toBe(
    "small judges nothing while the thresholds are 0, and keeps its own engine on 1 × tp 1 for higher ones.",
  );
  expect(besideStages({ ...plan, policy: { ...unjudged, approvedRanges: { thresholds: [{ min: 0, max: 0 }] } } })).toHaveLength(1);
  const alone = { ...plan.policy, judge, stages: [{ model: "large" }], thresholds: [] };
  expect(besideStages({ ...plan, policy: alone })).toEqual([]);
});

it("tells of a pinned model that no request visits which replicas it keeps", () => {
  const [first] = plan.deployment;
  if (first === undefined || plan.policy.kind !== "cascade") throw new Error("The example deploys models.");
  const usual = besideStages(plan);
  expect(besideStages({ ...plan, deployment: [...plan.deployment, { ...first, model: "tiny" }] })).toEqual([
    "tiny is pinned and keeps 1 × tp 1 without requests: a pin keeps replicas but adds no stage.",
    ...usual,
  ]);
});
