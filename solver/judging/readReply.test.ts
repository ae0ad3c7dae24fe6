import fc from "fast-check";
import { expect, test } from "vitest";
import { type ReplyScore, readScore, readVerdict } from "./readReply";

test.each<[string, ReplyScore]>([
  ["87", { score: 87 }],
  [" Score: 100.", { score: 100 }],
  ["0", { score: 0 }],
  ["-0", { score: 0 }],
  ["90/100", { score: 90 }],
  ["<think>Perhaps 40, no, 140.</think>\n\n85", { score: 85 }],
  ["40 seems low.</think>85", { score: 85 }],
  ["101", { unscored: "out-of-range" }],
  ["140", { unscored: "out-of-range" }],
  ["-3", { unscored: "out-of-range" }],
  ["eighty", { unscored: "no-number" }],
  ["The answer is very good, and complete.", { unscored: "no-number" }],
  ["", { unscored: "empty" }],
  [" \n", { unscored: "empty" }],
  ["<think>Somewhere between 60 and", { unscored: "empty" }],
])("a judge that replies %j is read as %j", (reply, reading) => {
  expect(readScore(reply)).toEqual(reading);
});

test("whatever a judge replies, a score lies in 0..100", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.bigInt().map(String)), (reply) => {
      const reading = readScore(reply);
      return "unscored" in reading || (reading.score >= 0 && reading.score <= 100);
    }),
  );
});

test.each<[string, ReplyScore]>([
  ["A", { score: 100 }],
  ["**B**", { score: 0 }],
  ["Tie.", { score: 50 }],
  ["Answer A is better.", { score: 100 }],
  ["Verdict: B", { score: 0 }],
  ["[[C]]", { score: 50 }],
  ["Both are right, but the first is complete: [[A]]", { score: 100 }],
  ["<think>B? No.</think>A", { score: 100 }],
  ["A or B", { unscored: "no-number" }],
  ["Answer A says more than answer B.", { unscored: "no-number" }],
  ["[[A]] or [[B]]", { unscored: "no-number" }],
  ["87", { unscored: "no-number" }],
  ["", { unscored: "empty" }],
])("a judge of pairs that replies %j is read as %j", (reply, reading) => {
  expect(readVerdict(reply)).toEqual(reading);
});
