import { expect, it } from "vitest";
import type { BatchStage } from "@/server/store/batchRepository";
import { etaSeconds } from "./batchEta";
import type { ShapedSession } from "./batchShape";
import { BatchTally } from "./batchTally";
import { CallQueue } from "./callQueue";
import { SessionRecord } from "./sessionRecord";

const session = (stage: BatchStage, worker: number, turn: number, prompts: number | null): ShapedSession => ({
  ...{ stage, worker, turn, model: "m", placement: { node: "n", gpus: [0] }, engineId: `${stage}-${worker}-${turn}` },
  positions: prompts === null ? null : Array.from({ length: prompts }, (_, at) => at),
  predicted: stage === "experts" ? { loadSeconds: 10, seconds: prompts ?? 0 } : null,
});
const recordOf = (one: ShapedSession): SessionRecord => new SessionRecord(one, []);
/** So many calls of each engine are done. */
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
const questions = (share: number | null, left = 0) => {
  const undecided = new CallQueue(Array.from({ length: left }, (_, at) => at));
  return { undecided, aggregatedShare: share };
};

it("goes by what was predicted before anything was measured, the slowest worker and the aggregator's share after it", () => {
  const records = [
    session("experts", 0, 0, 30),
    session("experts", 0, 1, 20),
    session("experts", 1, 0, 40),
    session("aggregator", 0, 0, null),
  ];
  const ground = { records: records.map(recordOf), tally: tallyOf(), aggregatorPredicted, nowMs: 0 };
  expect(etaSeconds({ ...ground, questions: questions(null) })).toBeNull();
  expect(etaSeconds({ ...ground, questions: questions(0.5) })).toBe(10 + 30 + 10 + 20 + (10 + 150));
  expect(etaSeconds({ ...ground, questions: questions(0) })).toBe(70);
});

it("goes by the measured speed of what runs, and scales the rest by what sessions took that are over", () => {
  const over = new SessionRecord(session("experts", 0, 0, 30), [
    { batchId: "b", stage: "experts", worker: 0, turn: 0, state: "done", loadSeconds: 12, seconds: 60 },
  ]);
  const running = recordOf(session("experts", 0, 1, 20));
  running.begin(0, 10);
  for (let answers = 0; answers < 5; answers += 1) running.took(7);
  running.state = "running";
  running.loadSeconds = 9;
  const later = recordOf(session("experts", 0, 2, 8));
  const tally = tallyOf({ "experts-0-0": 30, "experts-0-1": 5 });
  // Five answers in ten engine seconds; sessions take twice as long as predicted.
  const left = etaSeconds({ records: [over, running, later], tally, questions: questions(0), aggregatorPredicted, nowMs: 1000 });
  expect(left).toBeCloseTo(15 / 0.5 + 10 + 2 * 8);
  expect([running.answersPerSecond(1000), running.seconds(1000)]).toEqual([0.5, 10]);
});
