import { quantileOfSorted } from "@/solver/numeric/quantile";
import type { AgentView, DistributionView } from "@/solver/workflow/workflowsView";
import type { Tone } from "../ui/Badge";
import { formatCounted, formatSeconds } from "../ui/format";
import { type LinePicture, type Stretch, secondsAxis, stretchOf } from "./prepareLine";

export interface DistributionRow {
  readonly key: string;
  /** The model of single requests; null: what remains of the program. */
  readonly model: string | null;
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

const states: Readonly<Record<DistributionView["state"], { readonly tone: Tone; readonly why: string }>> = {
  empty: { tone: "neutral", why: "Nothing was observed yet." },
  learning: { tone: "warn", why: "The latest doubling of the sample still moved it." },
  converged: { tone: "good", why: "The latest doubling of the sample hardly moved it." },
  drifted: { tone: "warn", why: "What comes now is another distribution: it is learnt anew." },
};

/** Decides how an agent's latencies are drawn: what remains of its programs, and each request by model, over one axis from zero. */
export function prepareDistributions(agent: AgentView): {
  readonly rows: readonly DistributionRow[];
  readonly ticks: LinePicture["ticks"];
} {
  const all = [{ model: null, ...agent.remaining }, ...agent.request];
  const { end, ticks } = secondsAxis(
    all.reduce((most, { quantilesSeconds: of }) => (of.length === 0 ? most : Math.max(most, quantileOfSorted(of, 0.95))), 0),
  );
  return {
    ticks,
    rows: all.map(({ model, ...distribution }) => {
      const { quantilesSeconds, modeSeconds, observations, state } = distribution;
      const most = stretchOf(distribution, [0.05, 0.95], end);
      const half = stretchOf(distribution, [0.25, 0.75], end);
      const quantileText = (q: number) => formatSeconds(quantilesSeconds.length === 0 ? null : quantileOfSorted(quantilesSeconds, q));
      return {
        ...{ key: model ?? "", model, word: state, ...states[state] },
        observations: formatCounted(observations, "observation"),
        box:
          (most !== null &&
            half !== null && {
              ...{ most, half },
              median: quantileOfSorted(quantilesSeconds, 0.5) / end,
              // A distribution can have its mode beyond the axis only where it is all but flat.
              mode: modeSeconds === null ? null : Math.min(1, modeSeconds / end),
            }) ||
          null,
        ...{ median: quantileText(0.5), p95: quantileText(0.95), mode: formatSeconds(modeSeconds) },
      };
    }),
  };
}
