import { expect, test } from "vitest";
import type { AnswerEvidence } from "@/solver/gates/gate";
import { splitPrompts } from "@/solver/workload/split";
import type { AskedAnswers } from "./askedAnswers";
import { realSignals } from "./realSignals";

const evidence = (answer: string, others: readonly string[], least = 0.5): AnswerEvidence => ({
  ...{ prompt: "7+8", answer, inputTokens: 6, outputTokens: 3, endedByLength: false, others, judgedScore: 100 * least },
  tokens: { texts: [...answer, ""], logProbabilities: Float64Array.from([0.9, least, 0.99], Math.log) },
});

/** Forty answers: the even ones are right, unanimous and sure. */
const answers: AskedAnswers = {
  questions: [],
  evidence: Array.from({ length: 40 }, (_, at) =>
    at % 2 === 0 ? evidence("15", ["15", "15", "15"], 0.98) : evidence("16", ["16", "15", "17"], 0.3),
  ),
  label: Float64Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 100 : 0)),
  nextLabel: new Float64Array(40).fill(100),
};

const peer: AskedAnswers = { ...answers, evidence: answers.evidence.map(() => evidence("15", [])) };

const signalsOf = (other: AskedAnswers | null) => realSignals(answers, other, { split: splitPrompts(40, 1), seed: 1 });
const rawOf = (name: string, other: AskedAnswers | null = null) => [...(signalsOf(other).find((one) => one.name === name)?.raw ?? [])];

test("each measure of confidence reads its part of the tokens, and the judge has its own score", () => {
  expect(rawOf("confidence, minimum").slice(0, 2)).toEqual([expect.closeTo(90, 9), expect.closeTo(30, 9)]);
  expect(rawOf("judge").slice(0, 2)).toEqual([98, 30]);
  expect(rawOf("confidence, mean")[1]).toBeCloseTo((100 * (0.9 + 0.3 + 0.99)) / 3, 9);
  expect(rawOf("confidence, last two tokens")[1]).toBeCloseTo(100 * Math.sqrt(0.3 * 0.99), 9);
});

test("agreement is the share of samples with the same answer, and of the peer where there is one", () => {
  expect(rawOf("agreement of 3 samples").slice(0, 2)).toEqual([100, 100 / 3]);
  expect(rawOf("agreement with a peer", peer).slice(0, 2)).toEqual([100, 0]);
  expect(signalsOf(null).map(({ name }) => name)).not.toContain("agreement with a peer");
});

test("a scorer that is trained on the planning answers scores right ones above wrong ones", () => {
  const scores = rawOf("scorer");
  const [right, wrong] = [scores.filter((_, at) => at % 2 === 0), scores.filter((_, at) => at % 2 === 1)];
  expect(Math.min(...right)).toBeGreaterThan(Math.max(...wrong));
});

test("further calls cost the tokens that they read and write, and log probabilities cost none", () => {
  const tokens = Object.fromEntries(signalsOf(peer).map(({ name, cost }) => [name, cost.extraTokens]));
  expect(tokens).toMatchObject({ "agreement of 3 samples": 27, "agreement with a peer": 9, judge: 9, scorer: 0, "confidence, mean": 0 });
});
