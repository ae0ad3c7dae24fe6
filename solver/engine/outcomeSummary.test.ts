import { expect, test } from "vitest";
import { latencySummary, summarizeOutcome, tpotSeconds } from "./outcomeSummary";
import type { ReplicaModel } from "./replicaModel";
import { simulateClosedLoop } from "./simulateClosedLoop";
import { simulateReplica } from "./simulateReplica";

/** One sequence at a time: prefills of 2 s, decode steps of 1 s. */
const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 2, provenance: [] },
  kvTokens: 100,
  maxSequences: 1,
  maxBatchedTokens: 50,
  requestSeconds: () => 0,
};

test("latencies, rates and shares of a run that can be reckoned by hand", () => {
  // Served from 10 to 14 s, from 14 to 16 s and from 30 to 34 s; the third is refused.
  const outcome = simulateReplica(model, {
    arrivalSeconds: [10, 11, 12, 30],
    inputTokens: [5, 5, 500, 5],
    outputTokens: [3, 1, 1, 3],
  });
  const summary = summarizeOutcome(outcome, 0.5);
  expect(summary).toMatchObject({ served: 3, refused: 1, preemptions: 0, peakKvTokens: 7, kvUse: null });
  expect(summary.queueSeconds.mean).toBe(1);
  expect(summary.ttftSeconds).toMatchObject({ mean: 3, p50: 2 });
  expect(summary.endToEndSeconds).toMatchObject({ p50: 4 });
  expect(summary.endToEndSeconds.p90).toBeCloseTo(4.8, 12);
  expect(summary.tpotSeconds).toEqual({ mean: 1, p50: 1, p90: 1, p95: 1, p99: 1 });
  expect(summary.requestsPerSecond).toBe(3 / 24);
  expect(summary.outputTokensPerSecond).toBe(7 / 24);
  expect(summary.busyShare).toBe(10 / 24);
  // Three arrivals after the first in 20 s, of 0.5 requests/s that the replica sustains.
  expect(summary.utilisation).toBe(0.3);
});

test("a request of one token has no time per output token", () => {
  const outcome = simulateReplica(model, { arrivalSeconds: [0, 1], inputTokens: [5, 5], outputTokens: [1, 5] });
  expect(Array.from(tpotSeconds(outcome))).toEqual([1]);
});

test("without a saturation rate or with all arrivals at once there is no utilisation, and of nothing no percentile", () => {
  const outcome = simulateReplica(model, { arrivalSeconds: [0, 0], inputTokens: [5, 5], outputTokens: [1, 5] });
  expect(summarizeOutcome(outcome, 2).utilisation).toBeNull();
  const refused = simulateReplica(model, { arrivalSeconds: [0, 1], inputTokens: [500, 500], outputTokens: [1, 5] });
  expect(summarizeOutcome(refused, null).utilisation).toBeNull();
  expect(summarizeOutcome(refused, null)).toMatchObject({ served: 0, refused: 2, endToEndSeconds: { mean: Number.NaN, p95: Number.NaN } });
});

test("a closed loop that never runs dry is loaded to its saturation rate", () => {
  const many = new Int32Array(400).fill(4);
  const outcome = simulateClosedLoop(model, { inputTokens: many, outputTokens: many }, { concurrency: 3 });
  // Five seconds each, one after the other.
  expect(summarizeOutcome(outcome, 0.2).utilisation).toBeCloseTo(1, 2);
});

test("a summary does not hang on the order of the values", () => {
  expect(latencySummary(Float64Array.of(3, 1, 2))).toMatchObject({ mean: 2, p50: 2 });
});
