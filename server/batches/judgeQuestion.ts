import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { decideGate, type GateDecision } from "@/solver/ensemble/gate/gate";

/** A call of a question that is over. */
export type OverCall = Omit<StoredBatchCall, "answer">;

/** Whether a call is over. */
export const isOver = ({ state }: Pick<StoredBatchCall, "state">): boolean => state === "done" || state === "failed";

/** Where a question stands whose experts have all answered or failed. `open`: the aggregator is to be asked. */
export interface JudgedQuestion {
  readonly decision: GateDecision;
  readonly verdict: "skipped" | "aggregated" | "unanswered" | "open";
  /** The vote that is returned, null where there is none, and whose answer it was read off. */
  readonly vote: string | null;
  readonly by: { readonly stage: "experts" | "aggregator"; readonly model: string } | null;
}

/**
 * Decides a question by the calls of it that are over (MOSAIC, algorithm 1). An aggregator that fails leaves the experts' leading answer.
 *
 * @param experts whom it was put to, in the ensemble's order.
 * @returns null while one of them is still out.
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
