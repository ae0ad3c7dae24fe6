import type { LiveFrame } from "@/server/contracts/studio";
import type { Band, Plan } from "@/solver/plan/plan";
import { settlingSeconds } from "../live/settling";
import type { Tone } from "../ui/Badge";
import { formatCount, formatPercent, formatScore, formatScoreSpan, formatSeconds, formatSecondsSpan } from "../ui/format";

/** Requests before a p95 says something: ten of them lie in its tail. */
const ENOUGH_REQUESTS = 200;

/** Measured and planned rates further apart than this load the engines differently: their latencies do not compare. */
const RATE_TOLERANCE = 0.15;

export interface VerificationRow {
  readonly name: string;
  readonly promised: string;
  readonly measured: string;
  readonly verdict: { readonly word: string; readonly tone: Tone };
  /** What the verdict allows for, in words. */
  readonly basis: string;
}

type Verdict = VerificationRow["verdict"];
type Measured = LiveFrame["measured"];

function judge(value: number | null, band: Pick<Band, "low" | "high">, betterBelow: boolean): Verdict {
  if (value === null) return { word: "no measurement", tone: "neutral" };
  if (value >= band.low && value <= band.high) return { word: "as promised", tone: "good" };
  const better = betterBelow ? value < band.low : value > band.high;
  return better ? { word: "better than promised", tone: "accent" } : { word: "worse than promised", tone: "bad" };
}

/** Why there is no verdict yet; null when there is enough to judge by. */
function settling(measured: Measured | null, p95Seconds: number): Verdict | null {
  const requests = measured?.requests ?? 0;
  if (requests < ENOUGH_REQUESTS) return { word: `settling: ${formatCount(requests)} of ${ENOUGH_REQUESTS} requests`, tone: "neutral" };
  const windowSeconds = measured?.windowSeconds ?? 0;
  const needed = settlingSeconds(p95Seconds);
  if (windowSeconds >= needed) return null;
  return { word: `settling: ${formatSeconds(windowSeconds)} of ${formatSeconds(needed)}`, tone: "neutral" };
}

/**
 * Why the measured latency says nothing of the promised one; null when the rates agree. Requests count when they end, so a window
 * that begins with the load misses those under way: the rate they came at lies between the two bounds.
 */
function otherRate({ requests, windowSeconds }: Measured, plan: Plan): Verdict | null {
  const planned = plan.inputs.workload.requestsPerSecond;
  const least = requests / windowSeconds;
  const most = requests / Math.max(0, windowSeconds - plan.predictions.meanSeconds);
  if (most >= planned * (1 - RATE_TOLERANCE) && least <= planned * (1 + RATE_TOLERANCE)) return null;
  const digits = planned < 10 ? 1 : 0;
  return { word: `not comparable: ${least.toFixed(digits)} of ${planned.toFixed(digits)} req/s`, tone: "neutral" };
}

/** What a plan promised beside what is measured since it runs, and whether the one bears the other out. */
export function prepareVerification(plan: Plan, frame: LiveFrame | null): readonly VerificationRow[] {
  const { quality, qualityBand, p95Seconds, p95Band } = plan.predictions;
  const measured = frame?.planId === plan.id ? frame.measured : null;
  const early = settling(measured, p95Seconds);
  const p95 = measured?.p95Seconds ?? null;
  const meanQuality = measured?.meanQuality ?? null;
  return [
    {
      name: "p95 latency",
      promised: `${formatSeconds(p95Seconds)} (${formatSecondsSpan(p95Band)})`,
      measured: formatSeconds(p95),
      verdict: early ?? (measured === null ? null : otherRate(measured, plan)) ?? judge(p95, p95Band, true),
      basis: `band at ${formatPercent(p95Band.confidence)}: ${p95Band.basis}`,
    },
    {
      name: "Quality",
      promised: `${formatScore(quality)} (${formatScoreSpan(qualityBand)})`,
      measured: formatScore(meanQuality),
      verdict: early ?? judge(meanQuality, qualityBand, false),
      basis: `band at ${formatPercent(qualityBand.confidence)}`,
    },
  ];
}
