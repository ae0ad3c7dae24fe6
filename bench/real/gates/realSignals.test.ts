import { expect, test } from "vitest";
import { splitPrompts } from "@/solver/workload/split";
import type { AskedAnswers } from "./askedAnswers";
import { realSignals } from "./realSignals";
import { madeAnswers, madeEvidence } from "./testing/madeAnswers";

const peer: AskedAnswers = { ...madeAnswers, evidence: madeAnswers.evidence.map(() => madeEvidence("15", [])) };

const signalsOf = (other: AskedAnswers | null) => realSignals(madeAnswers, other, { split: splitPrompts(40, 1), seed: 1 });
const rawOf = (name: string, other: AskedAnswers | null = null) => [...(signalsOf(other).find((one) => one.name === name)?.raw ?? [])];

test("each measure of confidence reads its part of the tokens, and the judge has its own score", () => {
  expect(rawOf("confidence, minimum").slice(0, 2)).toEqual([expect.closeTo(90, 9), expect.closeTo(30, 9)]);
  expect(rawOf("judge").slice(0, 2)).toEqual([98, 30]);
  expect(rawOf("confidence, mean")[1]).toBeCloseTo((100 * (0.9 + 0.3 + 0.99)) / 3, 9);
  expect(rawOf("confidence, last two tokens")[1]).toBeCloseTo(100 * Math.sqrt(0.3 * 0.99), 9);
});

test("agreement is the share of samples with the same answer, and of the peer where there is one", () => {
  expect(rawOf("agreement of 3 samples").slice(0, 2)).toEqual([100, expect.closeTo(100 / 3, 9)]);
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

test("scorers with words read what the others do not, and score right answers above wrong ones without log probabilities", () => {
  // Whether an answer is right is in its words alone.
  const evidence = madeAnswers.evidence.map((each, at) => ({ ...each, answer: at % 2 === 0 ? "it is" : "perhaps", outputTokens: 3 }));
  const signals = realSignals({ ...madeAnswers, evidence }, null, { split: splitPrompts(40, 1), seed: 1 });
  const wrongBelowRight = (name: string): boolean => {
    const scores = [...(signals.find((one) => one.name === name)?.raw ?? [])];
    return Math.min(...scores.filter((_, at) => at % 2 === 0)) > Math.max(...scores.filter((_, at) => at % 2 === 1));
  };
  expect(wrongBelowRight("scorer with words, without log probabilities")).toBe(true);
  expect(wrongBelowRight("scorer without log probabilities")).toBe(false);
});
