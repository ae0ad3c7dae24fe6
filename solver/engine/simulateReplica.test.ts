import { expect, test } from "vitest";
import type { ReplicaModel } from "./replicaModel";
import { simulateReplica } from "./simulateReplica";

const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 2, provenance: [] },
  kvTokens: 100,
  maxSequences: 1,
  maxBatchedTokens: 50,
  requestSeconds: () => 0,
};

test("queueing, first token and end are counted from each request's own arrival", () => {
  // One sequence at a time: a prefill of 2 s and two decode steps of 1 s each.
  const outcome = simulateReplica(model, { arrivalSeconds: [10, 11], inputTokens: [5, 5], outputTokens: [3, 3] });
  expect(Array.from(outcome.queueSeconds)).toEqual([0, 3]);
  expect(Array.from(outcome.ttftSeconds)).toEqual([2, 5]);
  expect(Array.from(outcome.endToEndSeconds)).toEqual([4, 7]);
  expect(outcome).toMatchObject({ busySeconds: 8, horizonSeconds: 8, preemptions: 0, refused: 0 });
});

test("the front end works on one request at a time, in the order of their arrivals, before the engine sees them", () => {
  const slow = { ...model, requestSeconds: (inputTokens: number) => inputTokens / 10 };
  const roomy = { ...slow, maxSequences: 4 };
  // The front end finishes the requests at 10.5, 12.5 and 13 s; the last two wait 0 and 1.5 s for it.
  const work = { arrivalSeconds: [10, 10.5, 11], inputTokens: [5, 20, 5], outputTokens: [1, 1, 1] };
  const outcome = simulateReplica(roomy, work);
  expect(Array.from(outcome.endToEndSeconds)).toEqual([2.5, 4, 5.5]);
  // The third waits for the front end for 1.5 s, then for the current step.
  expect(Array.from(outcome.queueSeconds)).toEqual([0, 0, 3]);
  expect(outcome).toMatchObject({ busySeconds: 6, horizonSeconds: 6.5 });
});

test("a prefix cache that holds a share of every prompt spares that share of its prefill, but never the last token", () => {
  const byToken: ReplicaModel = { ...model, stepTime: { ...model.stepTime, mixedStepSeconds: (load) => load.tokens } };
  const ttft = (prefixHitRate: number) =>
    simulateReplica(byToken, { arrivalSeconds: [0], inputTokens: [10], outputTokens: [1], prefixHitRate }).ttftSeconds[0];
  expect([0, 0.25, 0.5, 1].map(ttft)).toEqual([10, 8, 5, 1]);
});

test("a more urgent request overtakes those that wait, but not the one that runs", () => {
  const work = { arrivalSeconds: [0, 1, 2], inputTokens: [5, 5, 5], outputTokens: [3, 3, 3], priorities: [2, 1, 0] };
  // Four seconds each: the first continues, then the third, then the second.
  expect(Array.from(simulateReplica(model, work).endToEndSeconds)).toEqual([4, 11, 6]);
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
