import type { GateDocument, ScorerFeature } from "@/solver/gates/gateDocument";
import type { AnswerEvidence } from "@/solver/gates/gates";
import { answerFact, answerWords, createGate, readsLogProbabilities } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { type ScorerRows, scorerScores } from "@/solver/prediction/gateScorer";
import type { GateSignal } from "@/solver/tournament/gateSignal";
import type { Drawn } from "../../lib/gateSplits";
import type { AskedAnswers } from "./askedAnswers";

const FREE = { extraTokens: 0, extraSeconds: 0 };

/** What a scorer reads of an answer. */
const SCORER_FEATURES: readonly ScorerFeature[] = [
  "minimum-probability",
  "mean-log-probability",
  "last-tokens-log-probability",
  "log-answer-tokens",
  "log-prompt-tokens",
  "has-extractable-answer",
];

const PLAIN_FEATURES = SCORER_FEATURES.filter((feature) => !readsLogProbabilities.has(feature));

const CONFIDENCES = {
  "confidence, minimum": { kind: "confidence", measure: "minimum" },
  "confidence, mean": { kind: "confidence", measure: "mean" },
  "confidence, length-normalised": { kind: "confidence", measure: "length-normalised" },
  "confidence, last two tokens": { kind: "confidence", measure: "last-tokens", lastTokens: 2 },
  "confidence, answer span": { kind: "confidence", measure: "answer-span", answer: "whole" },
} as const satisfies Readonly<Record<string, GateDocument>>;

/** How many other answers there are is in the evidence. */
const AGREEMENT = { kind: "agreement", answer: "whole" } as const;

/** A gate's raw scores of the smaller model's answers; an answer that it cannot score has 0. */
export function rawScores(document: GateDocument, evidence: readonly AnswerEvidence[]): Float64Array {
  const gate = createGate(document);
  return Float64Array.from(evidence, (each) => {
    const reading = gate.score(each);
    return reading.kind === "scored" ? reading.score : 0;
  });
}

/** Agreement of each answer with its samples. */
export const samplesScores = ({ evidence }: AskedAnswers): Float64Array => rawScores(AGREEMENT, evidence);

/** What a scorer reads: all features, or those that need no log probabilities; with or without the words of prompt and answer. */
export interface ScorerReading {
  readonly features: readonly ScorerFeature[];
  readonly words: boolean;
}

/** The scorer that profiles with texts train. */
export const servedScorer: ScorerReading = { features: SCORER_FEATURES, words: true };

/** The scorers that are compared. */
const SCORERS: Readonly<Record<string, ScorerReading>> = {
  scorer: { features: SCORER_FEATURES, words: false },
  "scorer with words": servedScorer,
  "scorer without log probabilities": { features: PLAIN_FEATURES, words: false },
  "scorer with words, without log probabilities": { features: PLAIN_FEATURES, words: true },
};

/** Scorers that show what words say where there are no log probabilities; an engine that reports these has better gates. */
export const controls: ReadonlySet<string> = new Set(Object.keys(SCORERS).filter((name) => SCORERS[name]?.features === PLAIN_FEATURES));

/** The rows by which a scorer learns. */
export const scorerRows = ({ evidence, label }: AskedAnswers, rows: ArrayLike<number>, { features, words }: ScorerReading): ScorerRows => ({
  features,
  facts: Array.from(rows, (row) =>
    features.map((feature) => {
      const each = evidence[row];
      return each === undefined ? null : answerFact(each, feature, "whole");
    }),
  ),
  labels: Float64Array.from(rows, (row) => label[row] ?? 0),
  ...(words
    ? {
        words: Array.from(rows).flatMap((row) => {
          const each = evidence[row];
          return each === undefined ? [] : [answerWords(each.prompt, each.answer)];
        }),
      }
    : {}),
});

/**
 * Every gate on one set of weights: the measures of confidence, agreement, the judge and a scorer.
 *
 * @param peer answers of another small model to the same questions; null: there is none.
 */
export function realSignals(answers: AskedAnswers, peer: AskedAnswers | null, { split, seed }: Drawn): readonly GateSignal[] {
  const { evidence } = answers;
  const calls = (calls: number): GateSignal["cost"] => {
    const tokens = evidence.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
    return { extraTokens: (calls * tokens) / evidence.length, extraSeconds: null };
  };
  const samples = evidence[0]?.others?.length ?? 0;
  const signal = (name: string, kind: GateSignal["kind"], raw: Float64Array, cost: GateSignal["cost"]): GateSignal => {
    return { kind, name, modelled: false, raw, cost };
  };
  const peers =
    peer === null ? [] : [signal("agreement with a peer", "agreement", rawScores(AGREEMENT, withPeer(evidence, peer)), calls(1))];
  return [
    ...Object.entries(CONFIDENCES).map(([name, document]) => signal(name, "confidence", rawScores(document, evidence), FREE)),
    signal(`agreement of ${samples} samples`, "agreement", samplesScores(answers), calls(samples)),
    ...peers,
    signal("judge", "judge", rawScores({ kind: "judge" }, evidence), calls(1)),
    ...Object.entries(SCORERS).map(([name, reading]) => {
      const raw = scorerScores((rows) => scorerRows(answers, rows, reading), { split, seed: mixSeed(seed, "scorer") });
      return signal(name, "scorer", raw, FREE);
    }),
  ];
}

const withPeer = (evidence: readonly AnswerEvidence[], peer: AskedAnswers): readonly AnswerEvidence[] =>
  evidence.map((each, index) => ({ ...each, others: [peer.evidence[index]?.answer ?? ""] }));
