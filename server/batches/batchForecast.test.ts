import { expect, it } from "vitest";
import type { BatchStage } from "@/server/store/batchRepository";
import { type ForecastGround, forecastBatch } from "./batchForecast";
import type { ShapedSession } from "./batchShape";
import { BatchTally } from "./batchTally";
import { CallQueue } from "./callQueue";
import { SessionRecord } from "./sessionRecord";
import { ensembleOf, orderOf } from "./testing/testBatchStudio";

const session = (stage: BatchStage, worker: number, turn: number, prompts: number | null): ShapedSession => ({
  ...{ stage, worker, turn, model: "m", placement: { node: "n", gpus: [0] }, engineId: `${stage}-${worker}-${turn}` },
  positions: prompts === null ? null : Array.from({ length: prompts }, (_, at) => at),
  predicted: stage === "experts" ? { loadSeconds: 10, seconds: prompts ?? 0 } : null,
});
const waiting = (...[stage, worker, turn, prompts]: Parameters<typeof session>): SessionRecord =>
  new SessionRecord(session(stage, worker, turn, prompts), []);
/** A session that is loaded and has given `answers` answers in a wall second, of ten engine seconds. */
function running(one: ShapedSession, answers: number): SessionRecord {
  const record = new SessionRecord(one, []);
  record.begin(0, 10);
  for (let at = 0; at < answers; at += 1) record.took(7);
  record.state = "running";
  record.loadSeconds = 9;
  return record;
}
/** A tally with this number of finished calls of each engine. */
function tallyOf(calls: Readonly<Record<string, number>> = {}): BatchTally {
  const tally = new BatchTally();
  for (const [engine, count] of Object.entries(calls))
    for (let at = 0; at < count; at += 1) tally.end({ stage: "experts", engine, state: "done", failure: null, vote: "A" });
  return tally;
}
/** The questions that are in doubt have the longest answers. */
const aggregatorPredicted = {
  ...{ loadSeconds: 10, expected: null },
  points: [
    { share: 0, seconds: 0 },
    { share: 0.5, seconds: 150 },
    { share: 1, seconds: 200 },
  ],
};
const orderAt = (concurrency: number): ForecastGround["order"] => ({
  ...orderOf({ ensemble: ensembleOf(["m", "o"], "a"), workers: [["m"]], questions: 40, request: { concurrency } }),
  aggregatorPredicted,
});
const questions = (share: number | null, left = 0): ForecastGround["questions"] => {
  const undecided = new CallQueue(Array.from({ length: left }, (_, at) => at));
  return { undecided, aggregatedShare: share, sent: Math.round(40 * (share ?? 0)) };
};
const at = (change: Partial<ForecastGround>) =>
  forecastBatch({ records: [], tally: tallyOf(), order: orderAt(2), questions: questions(0), nowMs: 1000, ...change });

it("goes by what was predicted before anything was measured, the slowest worker and the aggregator's share after it", () => {
  const records = [
    waiting("experts", 0, 0, 30),
    waiting("experts", 0, 1, 20),
    waiting("experts", 1, 0, 40),
    waiting("aggregator", 0, 0, null),
  ];
  expect(at({ records, questions: questions(null) }).etaSeconds).toBeNull();
  const half = at({ records, questions: questions(0.5) });
  expect(half.etaSeconds).toBe(10 + 30 + 10 + 20 + (10 + 150));
  expect([...half.expected.values()]).toEqual([
    ...[30, 20, 40].map((seconds) => ({ loadSeconds: 10, seconds })),
    { loadSeconds: 10, seconds: 150 },
  ]);
  const none = at({ records, questions: questions(0) });
  expect([none.etaSeconds, none.expected.size]).toEqual([70, 3]);
});

it("goes by the speed of what runs, answers under way by half, and scales the rest by what sessions took that are over", () => {
  const over = new SessionRecord(session("experts", 0, 0, 30), [
    { batchId: "b", stage: "experts", worker: 0, turn: 0, state: "done", loadSeconds: 12, seconds: 60 },
  ]);
  const now = running(session("experts", 0, 1, 20), 5);
  const later = waiting("experts", 0, 2, 8);
  const tally = tallyOf({ "experts-0-0": 30, "experts-0-1": 5 });
  // Five answers and two halves in ten engine seconds; sessions take twice as long as predicted.
  const { etaSeconds, expected } = at({ records: [over, now, later], tally });
  expect(etaSeconds).toBeCloseTo(14 / 0.6 + 10 + 2 * 8);
  expect(expected.get(now)).toEqual({ loadSeconds: 9, seconds: expect.closeTo(10 + 14 / 0.6) });
  expect(expected.get(later)).toEqual({ loadSeconds: 10, seconds: 16 });
  expect(expected.has(over)).toBe(false);
});

it("believes no speed that is of fewer answers than are under way", () => {
  const record = running(session("experts", 0, 0, 40), 3);
  const { etaSeconds, expected } = at({ records: [record], tally: tallyOf({ "experts-0-0": 3 }), order: orderAt(8) });
  // Of forty questions three are answered and eight half.
  expect(etaSeconds).toBeCloseTo(33);
  expect(expected.get(record)?.seconds).toBeCloseTo(43);
});

it("leaves what is left to the aggregator's engines that are begun, each by the speed of all", () => {
  const engines = [running(session("aggregator", 0, 0, null), 6), running(session("aggregator", 1, 0, null), 4)];
  const records = [...engines, waiting("aggregator", 2, 0, null)];
  const { etaSeconds, expected } = at({ records, questions: questions(0.5, 12) });
  expect(etaSeconds).toBeCloseTo((12 - 2) / ((7 + 5) / 10));
  expect([...expected.keys()]).toEqual(engines);
  expect(expected.get(engines[0] as SessionRecord)?.seconds).toBeCloseTo(10 + 10 / 1.2);
});

it("says of every session that it will have taken what is told of the batch's end", () => {
  const records = [
    running(session("experts", 0, 0, 20), 5),
    waiting("experts", 0, 1, 10),
    waiting("experts", 1, 0, 5),
    waiting("aggregator", 0, 0, null),
  ];
  const { etaSeconds, expected } = at({ records, tally: tallyOf({ "experts-0-0": 5 }), questions: questions(0.5) });
  const ends = records.map((record) => {
    const { loadSeconds = 0, seconds = 0 } = expected.get(record) ?? {};
    return loadSeconds + seconds;
  });
  const [first = 0, second = 0, , aggregator = 0] = ends;
  // Nine seconds of loading and ten of answering of the first session are over.
  expect(etaSeconds).toBeCloseTo(first + second + aggregator - 19);
});

it("expects of a session that is paused what it did when it was, however long ago that is", () => {
  const now = running(session("experts", 0, 0, 20), 5);
  const tally = tallyOf({ "experts-0-0": 5 });
  const before = at({ records: [now], tally });
  now.rest(1000);
  expect(at({ records: [now], tally, nowMs: 500_000 })).toEqual(before);
});
