import { expect, it } from "vitest";
import type { WaitingWork } from "../core/policy";
import { cascadeRoute } from "./cascadeRoute";
import { stageMoves } from "./stageMoves";

const moves = stageMoves(cascadeRoute({ stages: [{ model: "small" }, { model: "medium" }, { model: "far" }], thresholds: [50, 50] }));
const work = (stage: number, barredStages?: readonly number[]): WaitingWork => ({
  ...{ id: "a", programId: "a", stage, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 1 },
  state: { kind: "answered", judgedScore: 10 },
  barredStages,
});
const outage = (lost: readonly string[], lowerMayAnswer: boolean) => ({ isLost: (model: string) => lost.includes(model), lowerMayAnswer });

it("ends below the stages that work must not visit, also where smaller models may not answer in an outage", () => {
  for (const lowerMayAnswer of [true, false]) {
    expect(moves.judged(work(1, [2]), 10, outage([], lowerMayAnswer))).toMatchObject({
      kind: "accept",
      reason: "lower-stage",
      skipped: [2],
    });
    expect(moves.judged(work(1), 10, outage([], lowerMayAnswer))).toMatchObject({ kind: "escalate", stage: 2 });
  }
});

it("passes over a stage that work must not visit to a later one that it may", () => {
  expect(moves.judged(work(0, [1]), 10, outage([], false))).toMatchObject({ kind: "escalate", stage: 2, skipped: [1] });
});

it("is refused under strict stages where a lost stage, and not a barred one alone, keeps it from an answer", () => {
  expect(moves.judged(work(0, [2]), 10, outage(["medium"], false))).toMatchObject({ kind: "refuse" });
  expect(moves.judged(work(0, [2]), 10, outage(["medium"], true))).toMatchObject({ kind: "accept", reason: "lower-stage" });
});

it("is stuck in the queue of a stage that was barred after it joined", () => {
  expect(moves.stuck(undefined)(work(2, [2]))).toBe(true);
  expect(moves.stuck(undefined)(work(2))).toBe(false);
});
