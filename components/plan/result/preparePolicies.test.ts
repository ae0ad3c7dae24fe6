import { expect, it } from "vitest";
import type { ComparedPolicy } from "@/solver/plan/planSlack";
import { preparePolicies, slackBoughtText } from "./preparePolicies";

const compared = (policy: ComparedPolicy["policy"], more: Partial<ComparedPolicy>): ComparedPolicy => ({
  policy,
  models: ["small"],
  quality: 81.26,
  qualityLow: 79.96,
  p95Seconds: 2.5,
  gpus: 16,
  costUsdPerRequest: 0.002,
  chosen: false,
  reason: null,
  ...more,
});

it("puts the chosen policy first, and says of the others why not", () => {
  const policies = [
    compared("cascade", {}),
    compared("slack", { chosen: true, p95Seconds: 2, costUsdPerRequest: 0.001, qualityLow: 81 }),
    compared("one-model", {
      quality: null,
      qualityLow: null,
      p95Seconds: null,
      gpus: null,
      costUsdPerRequest: null,
      reason: "No model alone reaches the floor.",
    }),
  ];
  const objective = { kind: "latency-under-quality", qualityConfidence: 0.9 } as const;
  const rows = preparePolicies(policies, objective);
  expect(rows.map(({ kind, name, bound, p95, gpus, cost, reason }) => [kind, name, bound, p95, gpus, cost, reason])).toEqual([
    ["slack", "slack dispatch", "81.0", "2.00\u00a0s", "16", "$0.00100", ""],
    ["cascade", "cascade", "79.9", "2.50\u00a0s", "16", "$0.00200", "p95 +0.50\u00a0s"],
    ["one-model", "one model alone", null, "–", "–", "–", "No model alone reaches the floor."],
  ]);
  const reasonUnder = (more: object) => preparePolicies(policies, { ...objective, ...more })[1]?.reason;
  expect(reasonUnder({ slack: 0.2 })).toBe("1.0 points lower");
  expect(reasonUnder({ kind: "quality-under-latency", qualityConfidence: null })).toBe("$0.00100 a request more");
  expect(reasonUnder({ kind: "cost-under-both" })).toBe("$0.00100 a request more");
});

it("says what a slack bought, at the value that the floor applies to", () => {
  const fastest = { quality: 82, qualityLow: 80.4, p95Seconds: 2, gpus: 16, costUsdPerRequest: 0.002 };
  const plan = {
    predictions: { quality: 83.5, qualityBand: { low: 82 }, p95Seconds: 2.4, largestStageP95Seconds: 2, costUsdPerRequest: 0.0015 },
    deployment: [{ gpus: 8 }, { gpus: 4 }],
    inputs: { objective: { kind: "latency-under-quality", latency: "end-to-end", qualityConfidence: 0.9 } },
    solver: { slack: { slack: 0.25, limitSeconds: 2.5, fastest } },
  } as unknown as Parameters<typeof slackBoughtText>[0];
  expect(slackBoughtText({ ...plan, solver: {} as typeof plan.solver })).toBeNull();
  expect(slackBoughtText(plan)).toBe(
    "A slack of 25\u00a0% allows a p95 of 2.50\u00a0s; the fastest plan has 2.00\u00a0s. It bought: +20\u00a0% p95 → +1.6 points, −4 GPUs.",
  );
});
