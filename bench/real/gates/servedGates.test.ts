import { expect, test } from "vitest";
import { createGate } from "@/solver/gates/gates";
import { policySchema } from "@/solver/plan/policySchema";
import { gateCases } from "./cases";
import { calibratedGates, servedPolicies } from "./servedGates";
import { madeAnswers } from "./testing/madeAnswers";

const gates = calibratedGates(madeAnswers, gateCases);

test("every gate is measured at every threshold, beside both models alone, by policies that a gateway reads", () => {
  const policies = servedPolicies(gates, { thresholds: gateCases.thresholds, judgeModel: "arith-judge" });
  expect(policies.map(({ name }) => name)).toEqual([
    ...["small alone", "large alone"],
    ...["judge", "confidence", "agreement", "scorer"].flatMap((name) => gateCases.thresholds.map(() => name)),
  ]);
  for (const { policy } of policies) expect(policySchema.parse(policy)).toEqual(policy);
});

test("an answer without a score goes to the larger model, as planned policies send it; a judge's is accepted", () => {
  const policies = servedPolicies(gates, { thresholds: [50], judgeModel: "arith-judge" });
  const whenDown = policies.flatMap(({ name, policy }) => (policy.kind === "cascade" ? [[name, policy.judge.whenDown]] : []));
  expect(Object.fromEntries(whenDown)).toEqual({ judge: "accept", confidence: "largest", agreement: "largest", scorer: "largest" });
});

test("the calibrated scores of all gates mean the same: right answers near 100, wrong ones near 0", () => {
  for (const gate of Object.values(gates).map(createGate)) {
    const scores = madeAnswers.evidence.slice(0, 2).map((evidence) => {
      const reading = gate.score(evidence);
      return reading.kind === "scored" ? reading.score : Number.NaN;
    });
    expect(scores[0]).toBeGreaterThan(90);
    expect(scores[1]).toBeLessThan(10);
  }
});
