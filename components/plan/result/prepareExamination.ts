import { ABSENT, formatCounted, formatDelta, formatScore, formatSeconds } from "@/components/ui/format";
import type { Examination } from "@/server/contracts/studio";

type Prices = Extract<Examination, { kind: "prices" }>;
type Sensitivity = Extract<Examination, { kind: "sensitivity" }>;

/** One change and the p95 that it gives. */
export interface PriceRow {
  readonly key: string;
  readonly change: string;
  readonly p95: string;
  /** Compared with the current plan, with its sign; empty where there is nothing to compare. */
  readonly difference: string;
}

/** A difference in seconds; `no change` below the displayed precision of a latency. */
function differenceText(seconds: number): string {
  const text = formatDelta(seconds, 2);
  return text === "±0" ? "no change" : `${text}\u00a0s`;
}

/** Rows for the effects of one resource more or less, hardware first, then quality, then constraints. */
export function preparePrices({ latencySeconds: now, qualityFloor, gpus, quality, constraints }: Prices): readonly PriceRow[] {
  const row = (change: string, seconds: number | null, none: string): PriceRow => ({
    key: change,
    change,
    p95: seconds === null ? none : formatSeconds(seconds),
    difference: seconds === null ? "" : differenceText(seconds - now),
  });
  return [
    ...gpus.map(({ gpu, more, latencySeconds }) =>
      row(`${formatCounted(more, "GPU")} more${more === 1 ? "" : " (a node)"}, ${gpu}`, latencySeconds, "not found in time"),
    ),
    ...quality.map(({ points, latencySeconds }) => {
      const floor = qualityFloor === null ? "" : `, a floor of ${formatScore(qualityFloor + points)}`;
      return row(
        `${formatDelta(points, 0)} ${Math.abs(points) === 1 ? "point" : "points"} of quality${floor}`,
        latencySeconds,
        "no plan reaches it",
      );
    }),
    ...constraints.map(({ says, latencySeconds }) => row(`without “${says}”`, latencySeconds, "")),
  ];
}

/** One changed assumption: the figures of the current plan, and of the plan that would be made instead. */
export interface SensitivityRow {
  readonly key: string;
  readonly says: string;
  readonly keeps: boolean;
  readonly kept: { readonly p95: string; readonly quality: string };
  /** null: no plan meets floor and budget then. */
  readonly replanned: { readonly p95: string; readonly quality: string } | null;
  /** The changes of a new plan; absent where there is none. */
  readonly changes: string;
}

const figures = ({ latencySeconds, quality }: { readonly latencySeconds: number | null; readonly quality: number }) => ({
  p95: latencySeconds === null ? "overloaded" : formatSeconds(latencySeconds),
  quality: formatScore(quality),
});

export function prepareSensitivity({ cases }: Sensitivity): readonly SensitivityRow[] {
  return cases.map(({ says, keeps, routingChanges, deploymentChanges, kept, replanned }) => {
    const changes = [...(routingChanges ? ["thresholds"] : []), ...(deploymentChanges ? ["GPUs"] : [])].join(" and ");
    return {
      key: says,
      says,
      keeps,
      kept: figures(kept),
      replanned: replanned === null ? null : figures(replanned),
      changes: replanned === null ? ABSENT : changes || "nothing",
    };
  });
}
