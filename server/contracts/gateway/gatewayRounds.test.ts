import { expect, it } from "vitest";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { WaitingWork } from "@/solver/policies/core/policy";
import { justInTime } from "@/solver/policies/testing/testJustInTime";
import { gatewayRoundsSchema } from "./gatewayRounds";

const predictions = { whole: 0, partial: 0, none: 0, unasked: 0, meanMs: null, meanBudgetMs: null, evaluatedShare: null };

it("says by which price of its tokens a request got its model, and 0 of gateways that send none", () => {
  const price = { models: [{ model: "large", secondsPerToken: 0.01, waiting: 0 }], dampingSeconds: 1 };
  const policy = buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 0, price }, { workflows: [] }));
  const work = (id: string): WaitingWork => ({
    ...{ id, programId: id, stage: 2, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state: { kind: "queued" } },
  });
  // Of two requests one waits for a second for the only slot.
  const replicas = (inFlight: number) => [
    { id: "large", model: "large", inFlight, maxInFlight: 1, accepting: true, kvUse: { state: "absent" as const } },
    { id: "small", model: "small", inFlight: 0, maxInFlight: 1, accepting: true, kvUse: { state: "absent" as const } },
  ];
  expect(policy.decide({ nowSeconds: 0, waiting: [work("a"), work("b")], replicas: replicas(0) })).toHaveLength(1);
  expect(policy.decide({ nowSeconds: 1, waiting: [work("b")], replicas: replicas(0) })).toHaveLength(1);
  const view = policy.rounds?.() ?? { rounds: [] };
  const sent = JSON.parse(JSON.stringify({ rounds: view.rounds, programs: [], asOfSeconds: 1 })) as object;
  const answer = { ...sent, predictions: { ...predictions, waitedFor: { search: 0, engine: 0 } } };
  const termsOf = (of: unknown) => gatewayRoundsSchema.parse(of).rounds?.[0]?.candidates[0]?.assignments[0]?.terms;
  // One of 140 tokens, where one that waits counts once and had been waiting for a second.
  expect(termsOf(answer)?.planPriceSeconds).toBeCloseTo(140 * 0.01 * (1 - Math.exp(-1)), 9);
  const older = JSON.parse(JSON.stringify(answer).replace(/"planPriceSeconds":[^,]*,/g, "")) as object;
  expect(termsOf(older)?.planPriceSeconds).toBe(0);
  expect(termsOf(older)?.latencySeconds).toBe(termsOf(answer)?.latencySeconds);
});
