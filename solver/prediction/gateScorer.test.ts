import { describe, expect, it } from "vitest";
import { gateSchema, MOST_SCORER_WORDS } from "@/solver/gates/gateDocument";
import { answerWords, calibratedScore, createGate, expectedCalibrationError, fitCalibration } from "@/solver/gates/gates";
import { aucOf } from "@/solver/judging/concordance";
import { seededRandom } from "@/solver/numeric/random";
import { crossFittedScores, type ScorerRows, scoresOf, trainScorer } from "./gateScorer";

/** Answers that are right more often the surer and the shorter they are; one in ten without log probabilities. */
function rowsOf(count: number, seed: number): ScorerRows {
  const random = seededRandom(seed);
  const facts = Array.from({ length: count }, () => [random.next() < 0.1 ? null : random.next(), 3 + random.normal()] as const);
  const chance = (sure: number | null, length: number) => 1 / (1 + Math.exp(-(5 * ((sure ?? 0.5) - 0.5) - (length - 3))));
  const labels = facts.map(([sure, length]) => (random.next() < chance(sure, length) ? 100 : 0));
  return { features: ["minimum-probability", "log-answer-tokens"], facts, labels };
}

const FILLER = ["the", "sum", "of", "these", "numbers", "so", "then", "we", "get", "a", "value", "here"];

/**
 * Answers whose words alone say whether they are right: a hedge is mostly wrong, and so is what answers a riddle. Length and confidence say
 * nothing.
 */
function wordRows(count: number, seed: number, says = true): ScorerRows {
  const random = seededRandom(seed);
  const text = (...own: readonly string[]) => [...own, ...Array.from({ length: 12 }, () => FILLER[random.int(FILLER.length)])].join(" ");
  const labels: number[] = [];
  const words = Array.from({ length: count }, () => {
    const [hedges, isRiddle] = [random.next() < 0.5, random.next() < 0.5];
    const chance = says ? 1 / (1 + Math.exp(-(2.5 - (hedges ? 3 : 0) - (isRiddle ? 3 : 0)))) : 0.5;
    labels.push(random.next() < chance ? 100 : 0);
    return answerWords(text("user:", isRiddle ? "riddle" : "exercise"), text(hedges ? "perhaps" : "certainly"));
  });
  const facts = words.map(() => [random.next(), 3 + random.normal()]);
  return { features: ["minimum-probability", "log-answer-tokens"], facts, labels, words };
}

const withoutWords = ({ words: _, ...rows }: ScorerRows): ScorerRows => rows;

const labelled = (scores: Float64Array, { labels }: ScorerRows) => Array.from(scores, (score, at) => ({ score, label: labels[at] ?? 0 }));

const aucOfScores = (scores: Float64Array, rows: ScorerRows) => aucOf(labelled(scores, rows))?.value ?? Number.NaN;

describe("trainScorer", () => {
  it("orders fresh answers by what makes them right, and writes a document's part", () => {
    const scorer = trainScorer(rowsOf(1000, 1), 1);
    const fresh = rowsOf(1000, 2);
    expect(aucOfScores(scoresOf(scorer, fresh), fresh)).toBeGreaterThan(0.8);
    expect(scorer.weights.map(({ weight }) => Math.sign(weight))).toEqual([1, -1]);
    expect(gateSchema.parse({ kind: "scorer", answer: "number", ...scorer })).toMatchObject({ kind: "scorer" });
  });

  it("has finite weights where all labels are the same, or a feature never varies", () => {
    const constant = { features: ["ended-by-length"] as const, facts: Array(40).fill([0]), labels: Array(40).fill(100) };
    const scorer = trainScorer(constant, 1);
    expect(gateSchema.safeParse({ kind: "scorer", answer: "whole", ...scorer }).success).toBe(true);
    expect(scoresOf(scorer, constant)[0]).toBeGreaterThan(90);
  });
});

describe("a scorer that reads words", () => {
  const [rows, fresh] = [wordRows(800, 6), wordRows(3000, 7)];

  it("orders fresh answers whose words alone say which are right, where one without words cannot", () => {
    const [reading, blind] = [trainScorer(rows, 1), trainScorer(withoutWords(rows), 1)];
    expect(aucOfScores(scoresOf(reading, fresh), fresh)).toBeGreaterThan(0.8);
    expect(aucOfScores(scoresOf(blind, fresh), fresh)).toBeLessThan(0.58);
    expect(blind.words).toBeUndefined();
  });

  it("has cross-fitted scores from which a calibration holds on fresh answers", () => {
    const calibration = fitCalibration(labelled(crossFittedScores(rows, { folds: 5, seed: 1 }), rows));
    const scored = labelled(scoresOf(trainScorer(rows, 1), fresh), fresh);
    const error = expectedCalibrationError(
      scored.map((each) => ({ ...each, score: calibratedScore(each.score, calibration ?? undefined) })),
    );
    expect(error).toBeLessThan(6);
  });

  it("gives an answer the same score from a gateway's document and its texts", () => {
    const [prompt, answer] = ["user: riddle the sum of these", "perhaps we get a value"];
    const scorer = trainScorer(rows, 1);
    const gate = createGate(gateSchema.parse(JSON.parse(JSON.stringify({ kind: "scorer", answer: "whole", ...scorer }))));
    const evidence = {
      prompt,
      answer,
      inputTokens: 9,
      outputTokens: 5,
      endedByLength: false,
      tokens: null,
      others: null,
      judgedScore: null,
    };
    const own = {
      features: scorer.weights.map(({ feature }) => feature),
      facts: [[null, Math.log1p(5)]],
      words: [answerWords(prompt, answer)],
    };
    expect(gate.score(evidence)).toMatchObject({ kind: "scored", score: scoresOf(scorer, own)[0] });
  });

  it("is as good as one without words where they say nothing", () => {
    const [noise, other] = [wordRows(600, 8, false), wordRows(600, 9, false)];
    const facts = rowsOf(600, 10);
    const both = { ...noise, facts: facts.facts, labels: facts.labels };
    const asked = { ...other, facts: rowsOf(600, 11).facts, labels: rowsOf(600, 11).labels };
    const [reading, blind] = [trainScorer(both, 1), trainScorer(withoutWords(both), 1)].map((each) =>
      aucOfScores(scoresOf(each, asked), asked),
    );
    expect(reading).toBeGreaterThan((blind ?? 1) - 0.02);
  });

  it("keeps its document small, however many words the texts have", () => {
    const random = seededRandom(12);
    // Numbers count by their length alone, so that digits make no words.
    const word = () => String.fromCharCode(...Array.from({ length: 3 }, () => 97 + random.int(14)));
    const text = () => Array.from({ length: 60 }, word).join(" ");
    const words = Array.from({ length: 500 }, (_, at) => answerWords(text(), `${text()} ${at % 2 === 0 ? "perhaps" : "certainly"}`));
    const many = {
      features: ["log-answer-tokens"] as const,
      facts: words.map(() => [1]),
      labels: words.map((_, at) => (at % 2) * 100),
      words,
    };
    const scorer = trainScorer(many, 1);
    expect(scorer.words?.answer.buckets).toHaveLength(MOST_SCORER_WORDS);
    expect(JSON.stringify(scorer).length).toBeLessThan(32_000);
  });

  it("refuses answers without words", () => {
    expect(() => scoresOf(trainScorer(rows, 1), withoutWords(fresh))).toThrow(RangeError);
  });
});

describe("crossFittedScores", () => {
  it("does not let an answer's own label move its score", () => {
    const rows = rowsOf(60, 3);
    const turned = { ...rows, labels: Array.from(rows.labels, (label, at) => (at === 7 ? 100 - label : label)) };
    const [before, after] = [rows, turned].map((each) => crossFittedScores(each, { folds: 5, seed: 1 }));
    expect(after?.[7]).toBe(before?.[7]);
    expect(after).not.toEqual(before);
  });

  it("is about as good on its own answers as the whole scorer on fresh ones", () => {
    const [rows, fresh] = [rowsOf(1000, 4), rowsOf(1000, 5)];
    const own = aucOfScores(crossFittedScores(rows, { folds: 5, seed: 1 }), rows);
    expect(Math.abs(own - aucOfScores(scoresOf(trainScorer(rows, 1), fresh), fresh))).toBeLessThan(0.05);
  });
});
