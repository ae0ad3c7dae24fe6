import { mixSeed } from "@/solver/numeric/random";
import { applyJudge } from "@/solver/workload/applyJudge";
import type { Workload } from "@/solver/workload/workload";

/**
 * The workload with a confidence of each answer that is modelled: the scores of a judge of that AUC, or where it is null one number for all
 * answers.
 */
export function withModelledConfidence(workload: Workload, auc: number | null): Workload {
  const { outcomes } = workload;
  const scored = auc === null ? outcomes : applyJudge(outcomes, { kind: "modelled", auc, seed: mixSeed(workload.seed, "confidence") });
  const models = scored.models.map((own) => ({ ...own, confidence: auc === null ? own.label.map(() => 50) : own.judged }));
  return { ...workload, outcomes: { ...outcomes, models } };
}
