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
  reason: "p95 0.50 s higher",
  ...more,
});

it("puts the chosen policy first, and says of the others why not", () => {
  const rows = preparePolicies([
    compared("cascade", {}),
    compared("slack", { chosen: true, reason: null }),
    compared("one-model", {
      quality: null,
      qualityLow: null,
      p95Seconds: null,
      gpus: null,
      costUsdPerRequest: null,
      reason: "No model alone reaches the floor.",
    }),
  ]);
  expect(rows.map(({ kind, name, bound, p95, gpus, cost, reason }) => [kind, name, bound, p95, gpus, cost, reason])).toEqual([
    ["slack", "slack dispatch", "79.9", "2.50\u00a0s", "16", "$0.00200", ""],
    ["cascade", "cascade", "79.9", "2.50\u00a0s", "16", "$0.00200", "p95 0.50 s higher"],
    ["one-model", "one model alone", null, "–", "–", "–", "No model alone reaches the floor."],
  ]);
});

it("says what a slack bought, at the value that the floor applies to", () => {
  const plan = {
    predictions: { quality: 83.5, qualityBand: { low: 82 }, p95Seconds: 2.4, largestStageP95Seconds: 2, costUsdPerRequest: 0.0015 },
    deployment: [{ gpus: 8 }, { gpus: 4 }],
    inputs: { objective: { kind: "latency-under-quality", latency: "end-to-end", qualityConfidence: 0.9 } },
  } as unknown as Parameters<typeof slackBoughtText>[1];
  const fastest = { quality: 82, qualityLow: 80.4, p95Seconds: 2, gpus: 16, costUsdPerRequest: 0.002 };
  expect(slackBoughtText({ slack: 0.25, limitSeconds: 2.5, fastest }, plan)).toBe(
    "A slack of 25\u00a0% allows a p95 of 2.50\u00a0s; the fastest plan has 2.00\u00a0s. It bought: +20\u00a0% p95 → +1.6 points, −4 GPUs.",
  );
});
