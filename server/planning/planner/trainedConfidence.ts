import type { Store } from "@/server/store/store";
import { labelHashes } from "@/server/workloads/labelHashes";
import { DIRECT_START_WITHOUT_CONFIDENCE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import type { Workload } from "@/solver/workload/workload";

/** What a situation gets of a trained predictor, and what has to be said of it, a sentence each. */
interface ConfidencePart {
  readonly part: Partial<Pick<PlanningSituation, "workload" | "confidence">>;
  readonly notes: readonly string[];
}

/** A workload with the scores of a trained predictor of confidence. */
export interface ScoredWorkload {
  /** Its outcomes have the scores as `routerScore`, 0..100. */
  readonly workload: Workload;
  /** SHA-256 of the predictor's bytes. */
  readonly artefact: string;
}

/**
 * The workload with the confidences of a predictor that was trained on its prompts and labels, whatever their arrivals: out of fold for the
 * prompts that the predictor was trained on.
 *
 * @param wanted hash of the predictor; left out: the newest.
 * @returns null where no such predictor is stored, or none covers all models of the workload.
 */
export function withTrainedConfidence({ artefacts }: Pick<Store, "artefacts">, workload: Workload, wanted?: string): ScoredWorkload | null {
  const known = artefacts.scored().filter(({ hash }) => wanted === undefined || hash === wanted);
  if (known.length === 0) return null;
  const { outcomes } = workload;
  const hashes = labelHashes(outcomes);
  for (const { hash, models } of known) {
    const covers = hashes.every((own) => models.some(({ model, labels }) => model === own.model && labels === own.labels));
    const kept = covers ? artefacts.scores(hash) : null;
    if (kept === null) continue;
    const scored = withConfidenceColumns(
      outcomes,
      kept.models.map(({ model }) => model),
      kept.scores,
    );
    if (scored !== null) return { workload: { ...workload, outcomes: scored }, artefact: hash };
  }
  return null;
}

/**
 * The part of a situation that follows from the trained predictor of its workload: the workload with its scores, and its hash. Nothing where
 * there is none, and only a note with a direct start, whose modelled router takes the place of a predictor.
 */
export function confidencePart(
  store: Pick<Store, "artefacts">,
  workload: Workload,
  directStart: PlanningSituation["directStart"],
): ConfidencePart {
  const scored = withTrainedConfidence(store, workload);
  if (scored === null) return { part: {}, notes: [] };
  if (directStart !== undefined) return { part: {}, notes: [DIRECT_START_WITHOUT_CONFIDENCE] };
  return { part: { workload: scored.workload, confidence: { artefact: scored.artefact } }, notes: [] };
}
