import type { ConfidenceScores } from "@/server/store/documents/confidenceScores";
import { labelHashes } from "@/server/workloads/labelHashes";
import { mixSeed } from "@/solver/numeric/random";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { type ConfidenceRows, type Embeddings, scoreRows, trainConfidence } from "@/solver/prediction/confidence";
import { crossFittedConfidence, foldsOf } from "@/solver/prediction/crossFitted";
import { heldOutConfidence, separation } from "@/solver/prediction/heldOut";
import type { HeldOutError } from "@/solver/prediction/predictor";
import { confidenceRowsOf } from "@/solver/prediction/programRows";
import { sketchesOf, type TrainingContext } from "./trainingContext";

/** Parts of the planning prompts for out-of-fold confidence: each is scored by heads that learn from the other 80 %. */
const FOLDS = 5;

export interface TrainedConfidence {
  /** The artefact that was trained on all planning prompts. */
  readonly bytes: Uint8Array;
  /** Labels it was trained on. */
  readonly rows: ConfidenceRows;
  readonly heldOut: HeldOutError;
  /** Planning prompts out of fold, held-out prompts by the artefact itself. */
  readonly scores: ConfidenceScores;
}

/**
 * Trains confidence heads on a workload's planning prompts, measures them on its held-out prompts, and scores every prompt by heads that
 * were not trained on it. The same workload, texts and release give the same bytes.
 *
 * @param embedded an encoder's embeddings of the planning and of the held-out prompts, read in place of words; left out: words.
 * @throws RangeError where there is only one planning prompt.
 */
export function trainedConfidence(
  { workload, texts, split, tell }: TrainingContext,
  embedded: readonly (Embeddings | undefined)[] = [],
): TrainedConfidence {
  const { outcomes } = workload;
  const known = sketchesOf(outcomes.inputTokens, texts);
  const rowsOf = (prompts: Int32Array, embeddings: Embeddings | undefined): ConfidenceRows => ({
    ...confidenceRowsOf(outcomes, prompts, known),
    ...(embeddings === undefined ? {} : { embeddings }),
  });
  const [rows, heldOut] = [rowsOf(split.planning, embedded[0]), rowsOf(split.heldOut, embedded[1])];
  const prompts = rows.facts.length;
  tell(`Learning from ${prompts} labelled prompts`);
  const seed = mixSeed(workload.seed, "confidence");
  const artefact = trainConfidence(rows, { seed });
  tell("Measuring on prompts it has not seen");
  const measured = heldOutConfidence(artefact, heldOut);
  tell(`Scoring ${prompts} prompts by heads that have not seen them`);
  const fit = { folds: FOLDS, seed };
  const outOfFold = crossFittedConfidence(rows, fit);
  const scores = new Float32Array(outcomes.promptIds.length * rows.models.length);
  for (const [part, found] of [
    [split.planning, outOfFold],
    [split.heldOut, scoreRows(artefact, heldOut)],
  ] as const)
    for (const [at, row] of part.entries())
      scores.set(found.subarray(at * rows.models.length, (at + 1) * rows.models.length), row * rows.models.length);
  return {
    bytes: encodeArtefact(artefact),
    rows,
    heldOut: {
      ...measured,
      outOfFold: separation(rows.models, outOfFold, rows, foldsOf(prompts, fit)).map(({ model, auc }) => ({ model, auc })),
    },
    scores: { models: labelHashes(outcomes), scores },
  };
}
