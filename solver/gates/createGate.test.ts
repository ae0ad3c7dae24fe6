import { describe, expect, it } from "vitest";
import { sketchOf } from "@/solver/words/sketch";
import { createGate } from "./createGate";
import type { AnswerEvidence } from "./gate";
import { confidenceMeasures, type GateDocument, type SimpleGateDocument } from "./gateDocument";
import { gateContract } from "./testing/gateContract";

const judge = { kind: "judge" } as const;
const confidence = { kind: "confidence", measure: "minimum" } as const;
const agreement = { kind: "agreement", answer: "number", samples: { count: 2, temperature: 0.7 } } satisfies SimpleGateDocument;
const scorer = {
  kind: "scorer",
  answer: "number",
  bias: 0.2,
  weights: [
    { feature: "minimum-probability", mean: 0.5, scale: 0.2, weight: 1.5 },
    { feature: "mean-log-probability", mean: -0.4, scale: 0.3, weight: 0.5 },
    { feature: "last-tokens-log-probability", mean: -0.4, scale: 0.3, weight: 0.5 },
    { feature: "log-answer-tokens", mean: 4, scale: 1, weight: -0.7 },
    { feature: "log-prompt-tokens", mean: 4, scale: 1, weight: -0.1 },
    { feature: "has-extractable-answer", mean: 0.9, scale: 0.3, weight: 1 },
    { feature: "ended-by-length", mean: 0.1, scale: 0.3, weight: -1 },
  ],
} satisfies GateDocument;
const [maybe] = sketchOf("maybe").buckets.slice(-1);
const weighed = (weight: number) => ({ buckets: [maybe ?? 0], idf: [1.5], weights: [weight] });
const wordScorer = {
  ...{ kind: "scorer", answer: "number", bias: 0 },
  weights: [{ feature: "log-prompt-tokens", mean: Math.log1p(10), scale: 1, weight: 1 }],
  words: { prompt: weighed(1), answer: weighed(-2) },
} satisfies GateDocument;
const judgeBetween: GateDocument = {
  kind: "sequence",
  first: [{ gate: confidence, acceptFrom: 80, escalateBelow: 20 }],
  last: judge,
};

const calibration = { raw: [0, 40, 100], calibrated: [10, 20, 90] };

gateContract("judge", judge);
for (const measure of confidenceMeasures) gateContract(`confidence, ${measure}`, { kind: "confidence", measure, answer: "number" });
for (const answer of ["whole", "last-line", "number", "choice", "boxed"] as const)
  gateContract(`agreement, ${answer}`, { ...agreement, answer });
gateContract("scorer", scorer);
gateContract("scorer with words", wordScorer);
gateContract("confidence, calibrated", { ...confidence, calibration });
gateContract("judge in the doubtful middle", judgeBetween);
gateContract("three gates in order", {
  kind: "sequence",
  first: [
    { gate: { ...scorer, calibration }, acceptFrom: 85, escalateBelow: 15 },
    { gate: agreement, acceptFrom: 100, escalateBelow: 0 },
  ],
  last: { ...judge, calibration },
});

const evidence: AnswerEvidence = {
  prompt: "How many?",
  answer: "So it is 42",
  inputTokens: 10,
  outputTokens: 5,
  endedByLength: false,
  tokens: null,
  others: null,
  judgedScore: null,
};

const tokens = (...probabilities: readonly number[]) => ({
  texts: probabilities.map((_, at) => (at === 0 ? "So it is " : "42")),
  logProbabilities: Float64Array.from(probabilities, Math.log),
});

describe("createGate", () => {
  it("names the missing evidence where an answer has no score", () => {
    expect(createGate(judge).score(evidence)).toEqual({ kind: "unscored", cause: "no-judged-score", raw: [null] });
    expect(createGate(confidence).score(evidence)).toEqual({ kind: "unscored", cause: "no-log-probabilities", raw: [null] });
    expect(createGate(agreement).score(evidence)).toEqual({ kind: "unscored", cause: "no-other-answers", raw: [null] });
    const wordless = { ...evidence, answer: "Hello", others: ["Goodbye"] };
    expect(createGate(agreement).score(wordless)).toEqual({ kind: "unscored", cause: "no-extractable-answer", raw: [null] });
  });

  it("scores by the share of the other answers that agree", () => {
    const { score } = createGate(agreement);
    expect(score({ ...evidence, others: ["42.0", "it is 43"] })).toMatchObject({ kind: "scored", score: 50 });
    expect(score({ ...evidence, answer: "I do not know", others: ["42", "42"] })).toMatchObject({ kind: "scored", score: 0 });
  });

  it("asks the judge for answers between a sequence's bounds alone", () => {
    const gate = createGate(judgeBetween);
    const needFor = (probability: number) => gate.nextNeed({ ...evidence, tokens: tokens(probability, 1) }, new Set(["log-probabilities"]));
    expect(gate.nextNeed(evidence, new Set())).toBe("log-probabilities");
    expect([0.19, 0.2, 0.5, 0.79, 0.81].map(needFor)).toEqual([null, "judge", "judge", "judge", null]);
    expect(gate.score({ ...evidence, tokens: tokens(0.5, 1), judgedScore: 63 })).toMatchObject({ kind: "scored", score: 63 });
    const refused = gate.score({ ...evidence, tokens: tokens(0.125, 1), judgedScore: 63 });
    expect(refused.kind === "scored" && refused.score).toBeCloseTo(12.5, 9);
  });

  it("asks the next gate of a sequence where one has no evidence", () => {
    const gate = createGate(judgeBetween);
    expect(gate.nextNeed(evidence, new Set(["log-probabilities"]))).toBe("judge");
    expect(gate.nextNeed(evidence, new Set(["log-probabilities", "judge"]))).toBeNull();
    expect(gate.score({ ...evidence, judgedScore: 12 })).toMatchObject({ kind: "scored", score: 12 });
  });

  it("maps raw scores by the calibration, constant beyond its points", () => {
    const gate = createGate({ ...judge, calibration: { raw: [20, 60, 80], calibrated: [5, 45, 95] } });
    const scores = [0, 20, 40, 60, 70, 80, 100].map((judgedScore) => gate.score({ ...evidence, judgedScore }));
    expect(scores.map((reading) => reading.kind === "scored" && reading.score)).toEqual([5, 5, 25, 45, 70, 95, 95]);
  });

  it("adds the weights of the words of prompt and answer to a scorer's logit", () => {
    const { score } = createGate(wordScorer);
    const scored = (prompt: string, answer: string) => score({ ...evidence, prompt, answer });
    const chance = (logit: number) => ({ kind: "scored", score: expect.closeTo(100 / (1 + Math.exp(-logit)), 9) });
    expect(scored("How many?", "So it is 42")).toMatchObject(chance(0));
    expect(scored("How many, maybe?", "So it is 42")).toMatchObject(chance(1));
    expect(scored("How many?", "Maybe 42")).toMatchObject(chance(-2));
    expect(scored("Maybe?", "Maybe, maybe 42")).toMatchObject(chance(-1));
  });

  it("has a sequence's raw scores beside the score of the gate that decides, of later gates too", () => {
    const gate = createGate({ ...judgeBetween, last: { ...judge, calibration } });
    const sure = { ...evidence, tokens: tokens(0.125, 1), judgedScore: 40 };
    expect(gate.score(sure)).toEqual({ kind: "scored", score: expect.closeTo(12.5, 9), raw: [expect.closeTo(12.5, 9), 40] });
    expect(gate.score({ ...sure, tokens: tokens(0.5, 1) })).toEqual({ kind: "scored", score: 20, raw: [expect.closeTo(50, 9), 40] });
    expect(gate.score({ ...sure, judgedScore: null })).toMatchObject({
      score: expect.closeTo(12.5, 9),
      raw: [expect.closeTo(12.5, 9), null],
    });
  });

  it("reads the words of a text once for raw and calibrated score", () => {
    let reads = 0;
    const counted = {
      ...evidence,
      get prompt() {
        reads += 1;
        return "How many, maybe?";
      },
    };
    expect(createGate({ ...wordScorer, calibration }).score(counted)).toMatchObject({ kind: "scored", raw: [expect.any(Number)] });
    expect(reads).toBe(1);
  });

  it("counts a scorer's inputs without a value as their means", () => {
    const { score } = createGate({ ...scorer, bias: 0, weights: scorer.weights.slice(0, 1) });
    expect(score(evidence)).toMatchObject({ kind: "scored", score: 50 });
    const sure = score({ ...evidence, tokens: tokens(0.9, 0.9) });
    expect(sure.kind === "scored" && sure.score).toBeCloseTo(100 / (1 + Math.exp(-3)), 9);
  });
});
