import { formatScore, formatSeconds } from "@/components/ui/format";
import type { DispatchExploration, DispatchPoint } from "@/solver/dispatch/dispatchExploration";

/**
 * The effect of a tau of slack dispatch, in a sentence. Between two taus that were simulated the figures are called interpolated.
 *
 * @param tau null: the planner chooses it.
 * @param point the best slack dispatch at this tau, or at any where none is given; null where none meets the objective.
 */
export function tauSentence(
  tau: number | null,
  { dispatch, point }: { readonly dispatch: Pick<DispatchExploration, "taus"> | null; readonly point: DispatchPoint | null },
): string {
  if (dispatch === null) return "Shows its effect once slack dispatch is simulated.";
  if (point === null) return `No slack dispatch${tau === null ? "" : ` at τ ${tau}`} meets floor, budget and slack.`;
  const figures = `p95 ${formatSeconds(point.latencySeconds)}, quality ${formatScore(point.quality)}`;
  if (tau === null) return `The planner takes τ ${point.tau}: ${figures}.`;
  if (dispatch.taus.includes(tau)) return `${figures}, simulated.`;
  const below = dispatch.taus.findLast((each) => each < tau);
  const above = dispatch.taus.find((each) => each > tau);
  return `${figures}, interpolated between τ ${below} and τ ${above}.`;
}
