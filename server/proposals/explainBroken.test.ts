import { expect, test } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { PlanInput, PlanPromise } from "@/server/contracts/studio/promise";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { explainBroken } from "./explainBroken";

const draft = examplePlanDraft();
const span = { low: 0.8, high: 1.2 };
const stages = draft.predictions.stages.map((stage) => ({
  ...stage,
  bands: { p95Seconds: { low: 1.2, high: 1.8 }, meanSeconds: span, ttftP95Seconds: { low: 0.1, high: 0.3 } },
}));
const plan = { ...draft, id: "p", policyHash: "h", predictions: { ...draft.predictions, stages } } as unknown as Plan;

const promise: PlanPromise = {
  ...{ quantity: "end-to-end", model: null, name: "p95 end to end", kind: "seconds", promised: 2, band: { low: 1, high: 3 }, measured: 6 },
  ...{ interval: { low: 5, high: 7 }, verdict: "broken", reason: "" },
};
const gone: PlanInput = { name: "engines of small that serve", kind: "engines", planned: 4, now: 3, level: null, state: "moved" };

/** Times at the engines of the first stage, with no wait. */
function explained(seconds: readonly number[], inputs: readonly PlanInput[] = [], rateP95Seconds: number | null = null) {
  const answered = seconds.map((took) => {
    const visit = { model: "small", queueSeconds: 0, seconds: took, judgeSeconds: null, judgedScore: null, verdict: "accepted" };
    return { stages: [visit] } as unknown as Decision;
  });
  const counts = { answered: answered.length, seen: answered.length, failed: 0 };
  const predictions = { ...plan.predictions, p95Seconds: rateP95Seconds ?? plan.predictions.p95Seconds };
  const all = { kind: "predicted" as const, predictions };
  return explainBroken({
    ...{ plan, inputs, promises: [promise] },
    window: { answered, seen: answered, counts, seconds: 100, timeScale: 1, requestsPerSecond: null },
    under: { alone: rateP95Seconds === null ? [] : [{ inputs: "rate", predicted: all }], all },
  })[0]!;
}

/** Alternates around 1.4 s, above the band of the mean, which ends at 1.2 s. */
const around = (count: number, spread: number) => Array.from({ length: count }, (_, at) => 1.4 + (at % 2 === 0 ? spread : -spread));

test("engines are called slow only where their mean lies beyond the band by more than sampling shows", () => {
  expect(explained(around(16, 0.1))).toMatchObject({ slowEngines: true, says: expect.stringContaining("slower than calibrated") });
  const unsure = explained(around(16, 1.2));
  expect(unsure.slowEngines).toBe(false);
  expect(unsure.says).not.toContain("slower than calibrated");
});

test("an engine that is gone is told where the rate explains the figure, and slow engines are not", () => {
  const { says, slowEngines } = explained(around(16, 0.1), [gone], 5.8);
  expect(says).toContain("it explains it. Of the engines of small that serve there are 3 of 4.");
  expect(slowEngines).toBe(false);
});
