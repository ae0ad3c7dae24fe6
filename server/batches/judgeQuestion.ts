import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { decideGate, type GateDecision } from "@/solver/ensemble/gate/gate";

/** A call of a question that has ended. */
export type OverCall = Omit<StoredBatchCall, "answer">;

/** Whether a call has ended. */
export const isOver = ({ state }: Pick<StoredBatchCall, "state">): boolean => state === "done" || state === "failed";

/** The state of a question whose experts have all answered or failed. `open`: the aggregator must be called. */
export interface JudgedQuestion {
  readonly decision: GateDecision;
  readonly verdict: "skipped" | "aggregated" | "unanswered" | "open";
  /** The vote that is returned, null where there is none, and whose answer it was read off. */
  readonly vote: string | null;
  readonly by: { readonly stage: "experts" | "aggregator"; readonly model: string } | null;
}

/**
 * Decides a question by its ended calls (MOSAIC, algorithm 1). If the aggregator fails, the experts' leading answer is returned.
 *
 * @param experts experts that got the question, in the ensemble's order.
 * @returns null while one of them has not ended.
 */
export function judgeQuestion(
  calls: readonly OverCall[],
  experts: readonly string[],
  { ensemble }: Pick<BatchOrder, "ensemble">,
): JudgedQuestion | null {
  const { confidence, tau } = ensemble;
  const votes = calls
    .filter(({ stage }) => stage === "experts")
    .map(({ model, vote, outputTokens }) => ({ expert: model, vote, outputTokens: outputTokens ?? 0 }));
  if (votes.length < experts.length) return null;
  const decision = decideGate(votes, { asked: experts, confidence, tau });
  const { kind, leading } = decision;
  const ofExperts = { vote: leading?.vote ?? null, by: leading && ({ stage: "experts", model: leading.expert } as const) };
  if (kind === "skip") return { decision, verdict: "skipped", ...ofExperts };
  const aggregated = calls.find(({ stage }) => stage === "aggregator");
  if (aggregated === undefined) return { decision, verdict: "open", vote: null, by: null };
  if (aggregated.state === "done")
    return { decision, verdict: "aggregated", vote: aggregated.vote, by: { stage: "aggregator", model: aggregated.model } };
  return { decision, verdict: leading === null ? "unanswered" : "aggregated", ...ofExperts };
}
