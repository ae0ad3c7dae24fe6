import { niceTicks } from "@/components/charts/niceTicks";
import { formatCount, formatCounted, formatSeconds } from "@/components/ui/format";
import { quantileOfSorted } from "@/solver/numeric/quantile";
import type { AgentView, DistributionView } from "@/solver/workflow/learning/workflowsView";
import type { AgentIdentities, AgentIdentity } from "../graph/agentIdentity";
import type { Tick } from "../graph/Track";

/** More agents than these are shown on the line only on demand. */
export const MOST_ON_LINE = 24;

/** A stretch of a track, as shares of its width. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface LineRow {
  readonly identity: AgentIdentity;
  /** Its rank among all agents, 1 being the first; null: it has none yet. */
  readonly rank: number | null;
  /** Its position as a share of the axis; null: it has none yet. */
  readonly at: number | null;
  /** The middle 80 % of its remaining latencies; null without any. */
  readonly band: Stretch | null;
  readonly distance: string;
  readonly remainingCalls: string;
  readonly says: string;
}

export interface LinePicture {
  readonly rows: readonly LineRow[];
  readonly ticks: readonly Tick[];
  /** `11 more, 5 of them without a place yet`; null: all are shown. */
  readonly left: string | null;
}

/** The widest of an agent's ranges. */
function farthest({ distanceSeconds, remaining }: AgentView): number {
  const band = remaining.quantilesSeconds.length === 0 ? 0 : quantileOfSorted(remaining.quantilesSeconds, 0.9);
  return Math.max(distanceSeconds ?? 0, band);
}

/** The axis from zero, in round seconds; without ticks where it is empty. */
export function secondsAxis(most: number): { readonly end: number; readonly ticks: readonly Tick[] } {
  if (!(most > 0)) return { end: 1, ticks: [] };
  const end = most * 1.04;
  return {
    end,
    ticks: niceTicks({ low: 0, high: end, count: 5 }).map((tick) => ({ at: tick / end, text: tick === 0 ? "0" : formatSeconds(tick) })),
  };
}

export interface LineOptions {
  readonly identities: AgentIdentities;
  /** Whether those farther away are shown too. */
  readonly all: boolean;
  /** Always shown. */
  readonly chosen: string | null;
}

/**
 * Positions agents on the line of all agents, nearest to zero first, as the policy orders them. Those without a position come last.
 */
export function prepareLine(agents: readonly AgentView[], { all, chosen, identities }: LineOptions): LinePicture {
  const order = agents.toSorted(
    (a, b) => (a.distanceSeconds ?? Number.POSITIVE_INFINITY) - (b.distanceSeconds ?? Number.POSITIVE_INFINITY) || (a.key < b.key ? -1 : 1),
  );
  const isShown = ({ key }: AgentView, at: number) => all || at < MOST_ON_LINE || key === chosen;
  const [shown, left] = [order.filter(isShown), order.filter((agent, at) => !isShown(agent, at))];
  const distances = agents.flatMap(({ distanceSeconds }) => (distanceSeconds === null ? [] : [distanceSeconds]));
  const { end, ticks } = secondsAxis(shown.reduce((most, agent) => Math.max(most, farthest(agent)), 0));
  return {
    rows: shown.flatMap((agent): LineRow | [] => {
      const identity = identities.get(agent.key);
      if (identity === undefined) return [];
      const { distanceSeconds, remaining } = agent;
      const rank = 1 + distances.filter((other) => other < (distanceSeconds ?? Number.POSITIVE_INFINITY)).length;
      return {
        identity,
        rank: distanceSeconds === null ? null : rank,
        at: distanceSeconds === null ? null : distanceSeconds / end,
        band: stretchOf(remaining, [0.1, 0.9], end),
        distance: formatSeconds(distanceSeconds),
        remainingCalls: agent.remainingCalls.toFixed(1),
        says:
          distanceSeconds === null
            ? `${identity.name} of ${identity.application}: no place on the line yet`
            : `${identity.name} of ${identity.application}: ${formatSeconds(distanceSeconds)} from zero, number ${rank} to go, ${agent.remainingCalls.toFixed(1)} calls to make one after another, ${formatCounted(remaining.observations, "observation")}`,
      };
    }),
    ticks,
    left: leftText(left),
  };
}

function leftText(left: readonly AgentView[]): string | null {
  if (left.length === 0) return null;
  const placeless = left.filter(({ distanceSeconds }) => distanceSeconds === null).length;
  const further = placeless === 0 ? ", further from zero" : placeless === left.length ? "" : `, ${formatCount(placeless)} of them`;
  return `${formatCount(left.length)} more${further}${placeless === 0 ? "" : " without a place yet"}`;
}

/** Between two quantiles, as shares of an axis that ends at so many seconds; null without observations. */
export function stretchOf(
  { quantilesSeconds }: Pick<DistributionView, "quantilesSeconds">,
  [low, high]: readonly [number, number],
  end: number,
): Stretch | null {
  if (quantilesSeconds.length === 0) return null;
  return { from: quantileOfSorted(quantilesSeconds, low) / end, to: Math.min(1, quantileOfSorted(quantilesSeconds, high) / end) };
}
