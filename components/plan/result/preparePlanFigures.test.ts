import { expect, it } from "vitest";
import { ABSENT } from "@/components/ui/format";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { assumptions, estimatedFigures, estimateRateText, exactFigures } from "./preparePlanFigures";

const plan = examplePlanDraft();
const detailOf = (of: typeof plan, key: string) => exactFigures(of).find((figure) => figure.key === key)?.detail;

it("claims optimality for the allocation alone, and says how many settings were searched", () => {
  expect(detailOf({ ...plan, solver: { ...plan.solver, evaluatedThresholds: 1_240 } }, "solved")).toBe(
    "allocation optimal for these thresholds; 1,240 settings searched",
  );
  const stopped = { ...plan.solver, status: "feasible" as const, gap: 0.04, evaluatedThresholds: 1 };
  expect(detailOf({ ...plan, solver: stopped }, "solved")).toMatch(/^allocation feasible, gap 4.%; 1 setting searched$/);
});

it("puts beside each prediction what it may be wrong by, and names what the bands rest on", () => {
  expect(detailOf(plan, "p95")).toMatch(/^1.00.s to 3.00.s at 90.%$/);
  expect(detailOf(plan, "quality")).toMatch(/^at least 1.0 at 90.%$/);
  const qualityInterval = { low: 71.2, high: 73, confidence: 0.9, basis: "bootstrap" };
  const [quality] = exactFigures({ ...plan, predictions: { ...plan.predictions, qualityInterval } });
  expect(quality?.more).toMatch(/^71.2 to 73.0 in 90.% of samples$/);
  const p95Band = { ...plan.predictions.p95Band, basis: "spread of the traffic; model errors not in it" };
  const rests = (engineProfile?: EngineProfile) =>
    assumptions({ predictions: { ...plan.predictions, p95Band }, inputs: { ...plan.inputs, engineProfile } });
  expect(rests()).toMatch(/^p95 band: spread of the traffic; model errors not in it\./);
  expect(rests({ ...engineProfiles.sglang, name: "Ours" })).toMatch(/^Engine profile: Ours\. p95 band: /);
});

it("calls thresholds unstable under which the GPUs do not keep up, and gives no figures of them", () => {
  const infinite = Number.POSITIVE_INFINITY;
  const idle = {
    routing: 0,
    gpus: [0, 0],
    gpusTotal: 0,
    latencySeconds: infinite,
    costUsdPerRequest: infinite,
    quality: 72,
    qualityLow: 71,
  };
  const values = Object.fromEntries(estimatedFigures(idle, 8, false).map(({ key, value }) => [key, value]));
  expect(values).toMatchObject({ quality: "72.0", p95: "unstable", cost: ABSENT, gpus: ABSENT });
});

it("leaves open what the tables cannot estimate", () => {
  const candidate = { routing: 0, gpus: [1, 1], gpusTotal: 2, latencySeconds: 2, costUsdPerRequest: 0.1, quality: 72, qualityLow: 71 };
  const absent = estimatedFigures(candidate, 8, false).filter((figure) => figure.value === ABSENT);
  expect(absent.map((figure) => figure.key)).toEqual(["utilisation", "solved"]);
});

it("says of several GPU types that the tables count them at their average price", () => {
  const candidate = { routing: 0, gpus: [1, 1], gpusTotal: 2, latencySeconds: 2, costUsdPerRequest: 0.1, quality: 72, qualityLow: 71 };
  const told = (mixed: boolean) =>
    estimatedFigures(candidate, 8, mixed)
      .filter(({ detail }) => detail.includes("average price"))
      .map(({ key }) => key);
  expect([told(true), told(false)]).toEqual([["cost", "gpus"], []]);
});

it("begins with the highest rate and what refuses the next one, where the rate was searched for", () => {
  expect(exactFigures(plan).map(({ key }) => key)).not.toContain("rate");
  const refused = { requestsPerSecond: 4.07, kind: "quality-floor" as const, reason: "out of reach" };
  const searched = {
    ...plan,
    inputs: { ...plan.inputs, rateChoice: "highest" as const },
    solver: { ...plan.solver, highestRate: { firstRequestsPerSecond: 2, refused } },
  };
  expect(exactFigures(searched)[0]).toEqual({
    key: "rate",
    name: "Highest rate",
    value: "4.00/s",
    detail: "4.07/s is stopped by the quality floor",
  });
});

it("says which rate an estimate is at: of the last search, or the first of one", () => {
  const { requestsPerSecond } = plan.inputs.workload;
  expect(estimateRateText(20, null)).toContain("20.0/s, the first rate of the search");
  expect(estimateRateText(20, plan)).toContain("the first rate of the search");
  expect(estimateRateText(requestsPerSecond, plan)).toContain("the highest rate for the earlier settings");
});
