import { formatFineRate, formatPercent, formatSeconds, formatSecondsSpan } from "@/components/ui/format";
import type { Exploration } from "@/solver/cascade/explore/exploration";
import { limitName, type Plan } from "@/solver/plan/plan";
import type { Planning } from "../planning/usePlanning";

/** The answer to the search for the highest rate, as it is shown beside the sliders. */
export type HighestRateAnswer =
  /** There is no budget to keep. */
  | { readonly kind: "no-budget" }
  /** The first search runs, or was cancelled: nothing is found yet. */
  | { readonly kind: "none-yet" }
  | { readonly kind: "failed"; readonly message: string }
  /** No rate that was tried has a plan. */
  | { readonly kind: "infeasible"; readonly reason: string }
  | ({ readonly kind: "found" } & FoundRate)
  /** The last answer was for other settings; `now`: what the tables say of its rate under the present ones. */
  | ({ readonly kind: "earlier"; readonly now: string } & FoundRate);

interface FoundRate {
  readonly rate: string;
  /** The p95 at the rate, with its band. */
  readonly p95: string;
  /** What refuses the next rate: `says` in a few words, `reason` in the planner's. */
  readonly next: { readonly says: string; readonly reason: string };
}

/** Decides what is shown of a search for the highest rate. */
export function prepareHighestRate({
  exact,
  knobs,
  recommendation,
  exploration,
}: Pick<Planning, "exact" | "knobs" | "recommendation"> & {
  readonly exploration: Pick<Exploration, "requestsPerSecond"> | null;
}): HighestRateAnswer {
  const { plan, current, infeasible, status } = exact;
  if (knobs.latencyBudgetSeconds === null) return { kind: "no-budget" };
  if (status.kind === "error") return { kind: "failed", message: status.message };
  if (current && infeasible !== null) return { kind: "infeasible", reason: infeasible.reason };
  if (plan === null) return { kind: "none-yet" };
  const found = foundRate(plan);
  return current ? { kind: "found", ...found } : { kind: "earlier", ...found, now: nowText(recommendation, exploration) };
}

function foundRate({ inputs, predictions, solver }: Pick<Plan, "inputs" | "predictions" | "solver">): FoundRate {
  const { p95Seconds, largestStageP95Seconds, p95Band } = predictions;
  const refused = solver.highestRate?.refused ?? null;
  const band = `p95 ${formatSeconds(p95Seconds)}, ${formatSecondsSpan(p95Band)} at ${formatPercent(p95Band.confidence)}`;
  const { latency } = inputs.objective;
  return {
    rate: `${refused === null ? "at least " : ""}${formatFineRate(inputs.workload.requestsPerSecond)}`,
    p95: latency === "end-to-end" ? band : `largest stage p95 ${formatSeconds(largestStageP95Seconds)}; end to end ${band}`,
    next:
      refused === null
        ? { says: "The search ended before a rate was refused", reason: "" }
        : { says: `${formatFineRate(refused.requestsPerSecond)} is stopped by ${limitName(refused.kind)}`, reason: refused.reason },
  };
}

/** What the tables of a rate say of it: whether it stays within reach under other settings. */
function nowText(recommendation: Planning["recommendation"], tables: Pick<Exploration, "requestsPerSecond"> | null): string {
  if (recommendation === null || tables === null) return "";
  const at = formatFineRate(tables.requestsPerSecond);
  const best = recommendation.best?.estimate ?? null;
  return best === null
    ? `With these settings ${at} is out of reach, by the tables.`
    : `With these settings ${at} has a p95 of ${formatSeconds(best.latencySeconds)}, by the tables.`;
}
