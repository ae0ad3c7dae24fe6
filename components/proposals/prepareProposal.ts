import type { Proposal, TrafficGauge } from "@/server/contracts/studio";
import { formatClock, formatCounted, formatDelta, formatSeconds, formatUsd } from "../ui/format";

export interface ProposalWords {
  /** "input tokens 1.4 times planned since 14:05:00". */
  readonly drifted: string;
  /** "-1.2 s p95, 2 replicas start and 1 stops, about 40 s". */
  readonly effect: string;
}

/** Smaller changes of quality or price are not mentioned. */
const NOTABLE = { points: 0.1, usdPerHour: 0.01 } as const;

/** A summary of a proposal that fits in a line. */
export function prepareProposal({ drifted, driftedSince, gain, change }: Proposal): ProposalWords {
  const { started, stopped, seconds } = change;
  const latency =
    gain.latencySeconds === null
      ? "it sustains the traffic, and the plan in force does not"
      : `${formatDelta(-gain.latencySeconds, 2)} s latency`;
  return {
    drifted: `${drifted.map(driftWords).join(", ")} since ${formatClock(driftedSince)}`,
    effect: [
      latency,
      ...(Math.abs(gain.quality) < NOTABLE.points ? [] : [`${formatDelta(gain.quality, 1)} points of quality`]),
      ...(Math.abs(gain.costUsdPerHour) < NOTABLE.usdPerHour
        ? []
        : [`${formatUsd(Math.abs(gain.costUsdPerHour))} an hour ${gain.costUsdPerHour > 0 ? "less" : "more"}`]),
      started + stopped === 0
        ? "no replica changes"
        : `${formatCounted(started, "replica")} ${started === 1 ? "starts" : "start"} and ${stopped} ${stopped === 1 ? "stops" : "stop"}, about ${formatSeconds(seconds)}`,
    ].join(", "),
  };
}

/** Most shifts show in the mean; where the means are equal the spread has changed. */
function driftWords({ name, kind, planned, now }: TrafficGauge): string {
  if (now === null) return name;
  if (kind === "score")
    return Math.abs(now - planned) < 1 ? `the spread of ${name}` : `${name} ${formatDelta(now - planned, 0)} points from planned`;
  const ratio = now / planned;
  return Math.abs(ratio - 1) < 0.05
    ? `the spread of ${name}`
    : `${name} ${ratio < 1 ? Number(ratio.toPrecision(1)) : ratio.toFixed(1)} times planned`;
}
