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
  ["**85**", { score: 85 }],
  ["85%", { score: 85 }],
  ["85 out of 100", { score: 85 }],
  ["Out of 100, 85", { score: 85 }],
  ["On a scale of 0 to 100: 85", { score: 85 }],
  ["Score (0-100): 85", { score: 85 }],
  ["100/100", { score: 100 }],
  ["I give it a score of 100", { score: 100 }],
  ["85, so 85/100", { score: 85 }],
  ["85. It is complete.", { score: 85 }],
  ["８５", { score: 85 }],
  ["85.5", { score: 86 }],
  ["100.2", { unscored: "out-of-range" }],
  ["1,000", { unscored: "out-of-range" }],
  ["0.0", { score: 0 }],
  ["0.9", { unscored: "no-number" }],
  [".9", { unscored: "no-number" }],
  ["1.0", { unscored: "no-number" }],
  ["9/10", { unscored: "no-number" }],
  ["4 out of 5", { unscored: "no-number" }],
  ["1. 85", { unscored: "no-number" }],
  ["1. Correctness: The answer", { unscored: "no-number" }],
  ["Step 1: Look at", { unscored: "no-number" }],
  ["Step 1 ... 95", { unscored: "no-number" }],
  ["80-90", { unscored: "no-number" }],
  ["0-100", { unscored: "no-number" }],
  ["85,5,1", { unscored: "no-number" }],
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
