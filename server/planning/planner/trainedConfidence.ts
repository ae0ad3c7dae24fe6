import type { PlanRequest } from "@/server/contracts/planRequest";
import type { Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { labelHashes } from "@/server/workloads/labelHashes";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { MODELLED_START_WITHOUT_CONFIDENCE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf } from "@/solver/plan/policySchema";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import type { Workload } from "@/solver/workload/workload";

/** What a situation gets of a trained predictor, and what has to be said of it, a sentence each. */
type ConfidencePart = Outcome<{
  readonly part: Partial<Pick<PlanningSituation, "workload" | "confidence" | "directStart">>;
  readonly notes: readonly string[];
}>;

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

/** The workload that a plan was made for, with the scores of its trained router where it has one and these are kept; null: not kept here. */
export function workloadOfPlan(store: Store, { policy, inputs }: Pick<Plan, "policy" | "inputs">): Workload | null {
  const workload = loadWorkload(store, inputs.workload.id);
  const router = directStartOf(policy)?.router;
  if (workload === null || router?.kind !== "trained") return workload;
  return withTrainedConfidence(store, workload, router.predictor)?.workload ?? workload;
}

/**
 * The part of a situation that follows from the trained predictor of its workload: the workload with its scores, and its hash. Refused
 * where a trained router is asked for and there is none.
 *
 * @param asked `directStart`: the router that may start requests at a later stage. `confidence`: whether slack dispatch or a baseline reads
 * the scores too; they have none without a predictor, and only a note with a modelled router, whose scores take their place.
 */
export function confidencePart(
  store: Pick<Store, "artefacts">,
  workload: Workload,
  { directStart, confidence }: Pick<PlanRequest, "directStart"> & { readonly confidence: boolean },
): ConfidencePart {
  if (directStart !== undefined && "predictor" in directStart) {
    const { predictor } = directStart;
    const scored = withTrainedConfidence(store, workload, predictor === "newest" ? undefined : predictor);
    if (scored === null) return { ok: false, message: noPredictor(predictor) };
    const { artefact } = scored;
    const part = { workload: scored.workload, directStart: { predictor: artefact }, ...(confidence ? { confidence: { artefact } } : {}) };
    return { ok: true, part, notes: [] };
  }
  const scored = confidence ? withTrainedConfidence(store, workload) : null;
  if (directStart !== undefined)
    return { ok: true, part: { directStart }, notes: scored === null ? [] : [MODELLED_START_WITHOUT_CONFIDENCE] };
  if (scored === null) return { ok: true, part: {}, notes: [] };
  return { ok: true, part: { workload: scored.workload, confidence: { artefact: scored.artefact } }, notes: [] };
}

const noPredictor = (predictor: string): string =>
  predictor === "newest"
    ? "No trained predictor of confidence is stored for this workload: train one under Predictors, or ask for a modelled router."
    : `The scores of the predictor ${predictor.slice(0, 8)} for this workload are not kept here: train it again.`;
