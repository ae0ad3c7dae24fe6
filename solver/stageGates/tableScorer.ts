import type { ScorerFeature } from "@/solver/gates/gateDocument";
import { readsLogProbabilities, type ScorerDocument, scorerProbability } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { crossFittedScores, type LearntScorer, type ScorerRows, trainScorer } from "@/solver/prediction/gateScorer";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import type { GateRefusal } from "./gateRefusal";

const FOLDS = 5;

/** What an outcome table knows of an answer, no words among it; `minimum-probability` where it has the column of confidence. */
const tableFeatures = ({ confidence }: Pick<ModelOutcomes, "confidence">): readonly ScorerFeature[] => [
  "log-answer-tokens",
  "log-prompt-tokens",
  ...(confidence === undefined ? [] : (["minimum-probability"] as const)),
];

/** Trains a length and probability scorer of a model's answers on the planning prompts; the same workload gives the same scorer. */
export function trainTableScorer(workload: Workload, outcomes: ModelOutcomes): LearntScorer {
  return trainScorer(planningRows(workload, outcomes, tableFeatures(outcomes)), seedOf(workload, outcomes));
}

/**
 * Raw scores, 0..100, of a model's answers by a scorer: of planning prompts cross-fitted with the document's inputs, of the others by the
 * document itself.
 */
export function tableScorer(workload: Workload, outcomes: ModelOutcomes, document: ScorerDocument): Float64Array | GateRefusal {
  const features = document.weights.map(({ feature }) => feature);
  const unknown = features.find((feature) => !tableFeatures(outcomes).includes(feature));
  if (unknown !== undefined) {
    const { model } = outcomes;
    return readsLogProbabilities.has(unknown) && outcomes.confidence === undefined
      ? { kind: "no-column", model, column: "confidence" }
      : { kind: "other-inputs", model, feature: unknown };
  }
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const raw = Float64Array.from(
    outcomes.label,
    (_, row) => 100 * scorerProbability(document, (feature) => factOf(workload, outcomes, { feature, row })),
  );
  const fitted = crossFittedScores(planningRows(workload, outcomes, features), { folds: FOLDS, seed: seedOf(workload, outcomes) });
  for (const [at, row] of planning.entries()) raw[row] = fitted[at] ?? 0;
  return raw;
}

const seedOf = ({ seed }: Workload, { model }: ModelOutcomes): number => mixSeed(seed, `scorer of ${model}`);

function planningRows(workload: Workload, outcomes: ModelOutcomes, features: readonly ScorerFeature[]): ScorerRows {
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  return {
    features,
    facts: Array.from(planning, (row) => features.map((feature) => factOf(workload, outcomes, { feature, row }))),
    labels: Float64Array.from(planning, (row) => outcomes.label[row] ?? 0),
  };
}

function factOf(
  { outcomes: { inputTokens } }: Pick<Workload, "outcomes">,
  { outputTokens, confidence }: ModelOutcomes,
  { feature, row }: { readonly feature: ScorerFeature; readonly row: number },
): number | null {
  switch (feature) {
    case "log-answer-tokens":
      return Math.log1p(outputTokens[row] ?? 0);
    case "log-prompt-tokens":
      return Math.log1p(inputTokens[row] ?? 0);
    case "minimum-probability":
      return confidence === undefined ? null : (confidence[row] ?? 0) / 100;
    default:
      return null;
  }
}
