import type { Tone } from "@/components/ui/Badge";
import { formatCounted, formatSeconds } from "@/components/ui/format";
import { quantileOfSorted } from "@/solver/numeric/quantile";
import type { AgentView, DistributionView } from "@/solver/workflow/learning/workflowsView";
import type { Tick } from "../graph/Track";
import { type Stretch, secondsAxis, stretchOf } from "./prepareLine";

export interface DistributionRow {
  readonly key: string;
  /** The models that a single request went to, in order; null: the remaining time of the program. */
  readonly models: readonly string[] | null;
  readonly word: string;
  readonly tone: Tone;
  readonly why: string;
  readonly observations: string;
  /** null without observations; shares of the common axis. */
  readonly box: {
    readonly most: Stretch;
    readonly half: Stretch;
    readonly median: number;
    readonly mode: number | null;
  } | null;
  readonly median: string;
  readonly p95: string;
  readonly mode: string;
}

/** Separator between the models of an escalated request. */
const SENT_ON = " > ";

const states: Readonly<Record<DistributionView["state"], { readonly tone: Tone; readonly why: string }>> = {
  empty: { tone: "neutral", why: "No observations yet." },
  learning: { tone: "warn", why: "It still changed with the latest doubling of the sample." },
  converged: { tone: "good", why: "It hardly changed with the latest doubling of the sample." },
  drifted: { tone: "warn", why: "The distribution has changed: it is learnt again." },
};

/** Distributions over one axis from zero. */
export interface DistributionGroup {
  readonly key: "remaining" | "request";
  readonly rows: readonly DistributionRow[];
  readonly ticks: readonly Tick[];
}

/**
 * Prepares an agent's latencies: the remaining time of its programs has its own axis, because it can be many times as long as a
 * request; the requests by model share another.
 */
export const prepareDistributions = (agent: AgentView): readonly DistributionGroup[] => [
  groupOf("remaining", [{ model: null, ...agent.remaining }]),
  ...(agent.request.length === 0 ? [] : [groupOf("request", agent.request)]),
];

function groupOf(
  key: DistributionGroup["key"],
  distributions: readonly (DistributionView & { readonly model: string | null })[],
): DistributionGroup {
  const most = (of: readonly number[]) => (of.length === 0 ? 0 : quantileOfSorted(of, 0.95));
  const { end, ticks } = secondsAxis(Math.max(...distributions.map(({ quantilesSeconds }) => most(quantilesSeconds))));
  return { key, ticks, rows: distributions.map(({ model, ...distribution }) => rowOf(model, distribution, end)) };
}

function rowOf(model: string | null, distribution: DistributionView, end: number): DistributionRow {
  const { quantilesSeconds, modeSeconds, observations, state } = distribution;
  const most = stretchOf(distribution, [0.05, 0.95], end);
  const half = stretchOf(distribution, [0.25, 0.75], end);
  const quantileText = (q: number) => formatSeconds(quantilesSeconds.length === 0 ? null : quantileOfSorted(quantilesSeconds, q));
  const box = most !== null && half !== null ? { most, half, median: quantileOfSorted(quantilesSeconds, 0.5) / end } : null;
  return {
    ...{ key: model ?? "", models: model?.split(SENT_ON) ?? null, word: state, ...states[state] },
    observations: formatCounted(observations, "observation"),
    // A distribution can have its mode beyond the axis only where it is almost flat.
    box: box && { ...box, mode: modeSeconds === null ? null : Math.min(1, modeSeconds / end) },
    ...{ median: quantileText(0.5), p95: quantileText(0.95), mode: formatSeconds(modeSeconds) },
  };
}
