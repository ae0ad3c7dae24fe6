import { expect, it } from "vitest";
import { examplePlanDraft } from "@/solver/plan/examplePlan";
import { extrapolated, nearSaturation, prepareStages } from "./prepareStages";

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
