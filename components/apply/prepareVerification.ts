import type { LiveFrame } from "@/server/contracts/studio";
import type { Band, Plan } from "@/solver/plan/plan";
import type { Tone } from "../ui/Badge";
import { formatCount, formatScore, formatSeconds } from "../ui/format";

/** Requests before a p95 says something: ten of them lie in its tail. */
export const ENOUGH_REQUESTS = 200;

export interface VerificationRow {
  readonly name: string;
  readonly promised: string;
  readonly measured: string;
  readonly verdict: { readonly word: string; readonly tone: Tone };
}

function judge(value: number | null, band: Band, betterBelow: boolean): VerificationRow["verdict"] {
  if (value === null) return { word: "no measurement", tone: "neutral" };
  if (value >= band.low && value <= band.high) return { word: "as promised", tone: "good" };
  const better = betterBelow ? value < band.low : value > band.high;
  return better ? { word: "better than promised", tone: "accent" } : { word: "worse than promised", tone: "bad" };
}

/** What a plan promised beside what is measured since it runs, and whether the one lies in the other's band. */
export function prepareVerification(plan: Plan, frame: LiveFrame | null): readonly VerificationRow[] {
  const { predictions } = plan;
  const measured = frame?.planId === plan.id ? frame.measured : null;
  const requests = measured?.requests ?? 0;
  const tooFew = { word: `${formatCount(requests)} of ${ENOUGH_REQUESTS} requests needed`, tone: "neutral" } as const;
  const verdict = (value: number | null, band: Band, betterBelow: boolean) =>
    requests < ENOUGH_REQUESTS ? tooFew : judge(value, band, betterBelow);
  const p95 = measured?.p95Seconds ?? null;
  const quality = measured?.meanQuality ?? null;
  return [
    {
      name: "p95 latency",
      promised: `${formatSeconds(predictions.p95Seconds)} (${formatSeconds(predictions.p95Band.low)} to ${formatSeconds(predictions.p95Band.high)})`,
      measured: formatSeconds(p95),
      verdict: verdict(p95, predictions.p95Band, true),
    },
    {
      name: "Quality",
      promised: `${formatScore(predictions.quality)} (${formatScore(predictions.qualityBand.low)} to ${formatScore(predictions.qualityBand.high)})`,
      measured: formatScore(quality),
      verdict: verdict(quality, predictions.qualityBand, false),
    },
  ];
}
