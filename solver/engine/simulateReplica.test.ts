import { expect, test } from "vitest";
import type { ReplicaModel } from "./replicaModel";
import { simulateReplica } from "./simulateReplica";

const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 2, provenance: [] },
  kvTokens: 100,
  maxSequences: 1,
  maxBatchedTokens: 50,
};

test("queueing, first token and end are counted from each request's own arrival", () => {
  // One sequence at a time: a prefill of 2 s and two decode steps of 1 s each.
  const outcome = simulateReplica(model, { arrivalSeconds: [10, 11], inputTokens: [5, 5], outputTokens: [3, 3] });
  expect(Array.from(outcome.queueSeconds)).toEqual([0, 3]);
  expect(Array.from(outcome.ttftSeconds)).toEqual([2, 5]);
  expect(Array.from(outcome.endToEndSeconds)).toEqual([4, 7]);
  expect(outcome).toMatchObject({ busySeconds: 8, horizonSeconds: 8, preemptions: 0, refused: 0 });
});

test("a prompt longer than a step's token budget is prefilled in chunks", () => {
  const outcome = simulateReplica(model, { arrivalSeconds: [0], inputTokens: [90], outputTokens: [1] });
  expect(outcome.ttftSeconds[0]).toBe(4);
  expect(outcome.peakKvTokens).toBe(90);
});

test("a request too long for the cache is refused, has infinite times, and does not hold up the others", () => {
  const outcome = simulateReplica(model, { arrivalSeconds: [0, 0], inputTokens: [200, 5], outputTokens: [3, 3] });
  expect(Array.from(outcome.endToEndSeconds)).toEqual([Number.POSITIVE_INFINITY, 4]);
  expect(outcome.refused).toBe(1);
});

test("no requests take no time", () => {
  expect(simulateReplica(model, { arrivalSeconds: [], inputTokens: [], outputTokens: [] })).toMatchObject({
    busySeconds: 0,
    horizonSeconds: 0,
  });
});

test("arrivals that do not ascend are refused with both times", () => {
  expect(() => simulateReplica(model, { arrivalSeconds: [5, 4], inputTokens: [1, 1], outputTokens: [1, 1] })).toThrow(
    "4 s comes before 5 s",
  );
});
