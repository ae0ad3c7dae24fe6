import type { GateDocument, ScorerFeature } from "@/solver/gates/gateDocument";
import { simpleGatesOf } from "@/solver/gates/gateDocument";
import { readsLogProbabilities, type ScorerDocument } from "@/solver/gates/gates";
import type { GateColumn } from "@/solver/workload/gateColumns";

/** Values of one answer in the columns of a workload, 0..100; absent: not known. */
export type ObservedColumns = { readonly [Column in GateColumn | "judged"]?: number };

interface ObservedLengths {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/**
 * What the raw scores of a gate, as a gateway records them, are in the columns of a workload: the judge's score, confidence, agreement, or the
 * score of a scorer that reads words. A scorer of a table's columns has no column of its own: of its score and the answer's lengths follows
 * the confidence that it read.
 *
 * @param raw of the gates that the document consists of, in order; null where one gave none.
 */
export function observedColumns(document: GateDocument, raw: readonly (number | null)[], lengths: ObservedLengths): ObservedColumns {
  const columns: { -readonly [Column in keyof ObservedColumns]: number } = {};
  for (const [at, gate] of simpleGatesOf(document).entries()) {
    const score = raw[at] ?? null;
    if (score === null) continue;
    if (gate.kind === "judge") columns.judged = score;
    else if (gate.kind !== "scorer") columns[gate.kind] = score;
    else if (gate.words !== undefined) columns.scorer = score;
    else {
      const confidence = confidenceRead(gate, score, lengths);
      if (confidence !== null) columns.confidence = confidence;
    }
  }
  return columns;
}

/** Scores at the ends have no finite logit. */
const SURE = 1e-6;

/** A weight that is smaller than this says nothing of what it weighs. */
const LEAST_WEIGHT = 1e-3;

/** The confidence, 0..100, with which a scorer of a table's columns gives this score; null where its score does not say. */
function confidenceRead(
  { bias, weights }: Pick<ScorerDocument, "bias" | "weights">,
  score: number,
  lengths: ObservedLengths,
): number | null {
  const share = Math.min(1 - SURE, Math.max(SURE, score / 100));
  let rest = Math.log(share / (1 - share)) - bias;
  const confidence = weights.find(({ feature }) => readsLogProbabilities.has(feature));
  for (const { feature, mean, scale, weight } of weights) {
    if (feature === confidence?.feature) continue;
    const value = lengthOf(feature, lengths);
    if (value === null) return null;
    rest -= (weight * (value - mean)) / scale;
  }
  if (confidence === undefined || Math.abs(confidence.weight) < LEAST_WEIGHT) return null;
  const value = confidence.mean + (confidence.scale * rest) / confidence.weight;
  if (confidence.feature === "last-tokens-log-probability") return null;
  const held = confidence.feature === "minimum-probability" ? 100 * value : 100 * Math.exp(Math.min(0, value));
  return Math.min(100, Math.max(0, held));
}

function lengthOf(feature: ScorerFeature, { inputTokens, outputTokens }: ObservedLengths): number | null {
  const tokens = feature === "log-answer-tokens" ? outputTokens : feature === "log-prompt-tokens" ? inputTokens : null;
  return tokens === null ? null : Math.log1p(tokens);
}
