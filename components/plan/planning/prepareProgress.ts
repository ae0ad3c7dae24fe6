import { formatCount, formatCounted, formatFineRate } from "@/components/ui/format";
import type { PlanningProgress } from "@/server/contracts/studio";

/** The planner's current phase, in words, and its progress where that is known. */
export interface ProgressLine {
  readonly phase: string;
  /** `312 of 800 settings`; empty while nothing countable is done. */
  readonly measure: string;
  /** Share that is done, 0..1; null where the total is unknown. */
  readonly share: number | null;
}

const phases: Readonly<Record<PlanningProgress["phase"], { readonly phase: string; readonly of: string }>> = {
  searching: { phase: "Searching thresholds", of: "setting" },
  comparing: { phase: "Comparing cascades and configurations", of: "candidate" },
  alternating: { phase: "Alternating between deployment and thresholds", of: "round" },
  dispatching: { phase: "Simulating slack dispatch", of: "setting" },
  deploying: { phase: "Placing replicas", of: "plan" },
  simulating: { phase: "Simulating the plan whole", of: "plan" },
  examining: { phase: "Computing the answers", of: "question" },
};

/** @param progress null: nothing is known yet. */
export function prepareProgress(progress: PlanningProgress | null): ProgressLine {
  if (progress === null) return { phase: "Waiting for the planner", measure: "", share: null };
  const { phase, of: noun } = phases[progress.phase];
  const { done, of, rate } = progress;
  if (rate !== undefined) {
    const at = `Rate ${rate.number}: planning at ${formatFineRate(rate.requestsPerSecond)}`;
    // The number of rates is not known beforehand.
    return { phase: at, measure: `${phase.toLowerCase()}${done === 0 ? "" : `, ${formatCounted(done, noun)}`}`, share: null };
  }
  if (of === null) return { phase, measure: done === 0 ? "" : formatCounted(done, noun), share: null };
  return { phase, measure: `${formatCount(done)} of ${formatCounted(of, noun)}`, share: of === 0 ? null : Math.min(1, done / of) };
}
