import { answerFact } from "@/solver/gates/answerFacts";
import { createGate } from "@/solver/gates/createGate";
import type { AnswerEvidence } from "@/solver/gates/gate";
import type { GateDocument, ScorerFeature } from "@/solver/gates/gateDocument";
import { mixSeed } from "@/solver/numeric/random";
import type { ScorerRows } from "@/solver/prediction/gateScorer";
import type { GateSignal } from "@/solver/tournament/gateSignal";
import { scorerScores } from "@/solver/tournament/gateTournament";
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

/** The rows by which a scorer learns. */
export const scorerRows = ({ evidence, label }: AskedAnswers, rows: ArrayLike<number>): ScorerRows => ({
  features: SCORER_FEATURES,
  facts: Array.from(rows, (row) =>
    SCORER_FEATURES.map((feature) => {
      const each = evidence[row];
      return each === undefined ? null : answerFact(each, feature, "whole");
    }),
  ),
  labels: Float64Array.from(rows, (row) => label[row] ?? 0),
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
  const scored = scorerScores((rows) => scorerRows(answers, rows), { split, seed: mixSeed(seed, "scorer") });
  return [
    ...Object.entries(CONFIDENCES).map(([name, document]) => signal(name, "confidence", rawScores(document, evidence), FREE)),
    signal(`agreement of ${samples} samples`, "agreement", samplesScores(answers), calls(samples)),
    ...peers,
    signal("judge", "judge", rawScores({ kind: "judge" }, evidence), calls(1)),
    signal("scorer", "scorer", scored, FREE),
  ];
}

const withPeer = (evidence: readonly AnswerEvidence[], peer: AskedAnswers): readonly AnswerEvidence[] =>
  evidence.map((each, index) => ({ ...each, others: [peer.evidence[index]?.answer ?? ""] }));
