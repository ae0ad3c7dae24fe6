import { formatPercent, formatPercentSpan } from "@/components/ui/format";
import type { ServedEnsemble } from "@/server/contracts/studio";
import { reachesTau } from "@/solver/ensemble/gate/confidence";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau, isAggregateAll, isSameTau } from "@/solver/ensemble/gate/tauText";
import { votesOf } from "../gate/prepareBuckets";
import type { TauStop } from "../gate/TauSlider";

/** Steps of tau where weighed votes can give any confidence. */
const STEPS = 20;

/** A share known as an interval. */
interface Ends {
  readonly low: number;
  readonly high: number;
}

type Counted = Pick<ServedEnsemble, "votes" | "ensemble">;

/**
 * Share of the counted requests that `tau` would have skipped, as far as their votes show: experts that were not waited for may or may not
 * have agreed with the leading answer; those that were late, failed or left no vote did not. null where votes have other weights, or
 * nothing was counted.
 */
export function wouldSkip({ votes, ensemble }: Counted, tau: number): Ends | null {
  if (isAggregateAll(tau)) return Object.keys(votes).length === 0 ? null : { low: 0, high: 0 };
  if (ensemble.confidence.kind !== "plurality") return null;
  const asked = ensemble.expertsPerQuestion;
  const reaches = (count: number) => reachesTau(count / asked, tau);
  let [all, low, high] = [0, 0, 0];
  for (const [key, { requests, withQuorum, early }] of Object.entries(votes)) {
    const counts = votesOf(key);
    const heard = counts.reduce((sum, count) => sum + count, 0);
    const lead = counts[0] ?? 0;
    all += requests;
    if (reaches(lead)) low += withQuorum;
    if (reaches(lead)) high += withQuorum;
    else if (reaches(lead + asked - heard)) high += early;
  }
  return all === 0 ? null : { low: low / all, high: high / all };
}

/** Whether both ends are formatted alike. */
const isOneFigure = ({ low, high }: Ends): boolean => formatPercent(low) === formatPercent(high);

/** An interval of shares as text: one figure if both ends are formatted alike. */
export const endsText = (ends: Ends): string => (isOneFigure(ends) ? formatPercent(ends.low) : formatPercentSpan(ends));

/** The effect that another tau would have had on the counted requests, in a sentence. */
export function tauEffect(served: Counted, tau: number): string {
  const { ensemble } = served;
  if (isAggregateAll(tau)) return "The aggregator answers every request, whatever the experts' votes.";
  if (ensemble.confidence.kind !== "plurality")
    return "Votes are weighed: what another tau skips is not known before it is in force. Try it on a sample, on the Gate tab.";
  const [now, then] = [wouldSkip(served, ensemble.tau), wouldSkip(served, tau)];
  if (now === null || then === null) return "No request of the ensemble as it is was counted yet: what it will skip is not known.";
  const unsure = isOneFigure(then) ? "" : " Experts that were not waited for may have agreed, or not.";
  if (isSameTau(tau, ensemble.tau))
    return `By their votes ${endsText(then)} of the requests counted would skip the aggregator at this tau.${unsure}`;
  return `By their votes ${endsText(then)} of the requests counted would skip the aggregator; at the tau in force ${endsText(now)}.${unsure}`;
}

/** Stops of a served ensemble's slider: at shares of votes, or evenly; at the tau in force; and at aggregating all. */
export function onlineStops(served: Counted): readonly TauStop[] {
  const { ensemble } = served;
  const { expertsPerQuestion: asked, confidence } = ensemble;
  const steps = confidence.kind === "plurality" ? asked : STEPS;
  const taus = [...Array.from({ length: steps }, (_, at) => (at + 1) / steps), AGGREGATE_ALL];
  if (!taus.some((tau) => isSameTau(tau, ensemble.tau))) taus.push(ensemble.tau);
  return taus
    .toSorted((a, b) => a - b)
    .map((tau) => {
      const share = wouldSkip(served, tau);
      return {
        tau,
        name: formatTau(tau, asked),
        says:
          share === null ? "what it skips is not known beforehand" : `${endsText(share)} of the requests counted would skip the aggregator`,
      };
    });
}
