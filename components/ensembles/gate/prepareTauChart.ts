import { niceTicks } from "@/components/charts/niceTicks";
import { formatFinePercent, formatFinePercentSpan, formatPercent } from "@/components/ui/format";
import { isSameTau } from "@/solver/ensemble/gate/tauText";
import type { GateStop } from "./prepareGate";

export interface TauPoint {
  readonly key: string;
  /** Index of its stop. */
  readonly stop: number;
  /** From the lower left, 0..1. */
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
  /** For the chosen and the recommended tau, and for all where there are few; null: it would overlap others. */
  readonly name: string | null;
  readonly role: "chosen" | "recommended" | "other";
  /** Towards the middle of the plot, where there is room for it. */
  readonly nameTo: "left" | "right";
  readonly text: string;
}

interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Accuracy against the share of questions that skip the aggregator, along tau. */
export interface TauPicture {
  /** By skip rate. */
  readonly points: readonly TauPoint[];
  /** In a box of 100 by 100 from the upper left. */
  readonly line: string;
  readonly band: string;
  /** The accuracy of always aggregating, 0..1 from below; null: there is no aggregator. */
  readonly always: { readonly at: number; readonly text: string } | null;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
}

/** The names of more points than this would overlap. */
const MOST_NAMES = 6;

/** A share of the plot that keeps marks off its edges. */
const MARGIN = 0.06;

/** The names of points closer than these shares of the plot would overlap. */
const NEAR = { x: 0.2, y: 0.09 } as const;

const roles: readonly TauPoint["role"][] = ["chosen", "recommended", "other"];

/** Points whose names overlap none of higher priority: the chosen one's first, then the recommended one's. */
function apart(points: readonly TauPoint[]): readonly TauPoint[] {
  const named: TauPoint[] = [];
  for (const point of points.toSorted((a, b) => roles.indexOf(a.role) - roles.indexOf(b.role))) {
    const near = named.some(({ x, y }) => Math.abs(x - point.x) < NEAR.x && Math.abs(y - point.y) < NEAR.y);
    if (point.name !== null && !near) named.push(point);
  }
  return points.map((point) => (named.includes(point) ? point : { ...point, name: null }));
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** Prepares the chart. null: there is nothing to draw. @param at index of the chosen stop. */
export function prepareTauChart(
  stops: readonly GateStop[],
  choice: { readonly at: number; readonly recommendedTau: number | null },
): TauPicture | null {
  const finite = stops.flatMap((stop, index) => (Number.isFinite(stop.accuracy.value) ? [{ stop, index }] : []));
  if (finite.length === 0) return null;
  const lows = finite.map(({ stop }) => stop.accuracy.low);
  const highs = finite.map(({ stop }) => stop.accuracy.high);
  const span = Math.max(0.02, Math.max(...highs) - Math.min(...lows));
  const low = Math.max(0, Math.min(...lows) - MARGIN * span);
  const high = Math.min(1, Math.max(...highs) + MARGIN * span);
  const place = (value: number) => clamp((value - low) / (high - low));
  const sorted = finite.toSorted((a, b) => a.stop.skipped.value - b.stop.skipped.value);
  const points = sorted.map(({ stop, index }): TauPoint => {
    const recommended = choice.recommendedTau !== null && isSameTau(stop.tau, choice.recommendedTau);
    const role = index === choice.at ? "chosen" : recommended ? "recommended" : "other";
    const x = clamp(stop.skipped.value);
    return {
      key: String(stop.tau),
      stop: index,
      x,
      y: place(stop.accuracy.value),
      low: place(stop.accuracy.low),
      high: place(stop.accuracy.high),
      role,
      name: role !== "other" || sorted.length <= MOST_NAMES ? `${stop.name}${recommended ? ", recommended" : ""}` : null,
      nameTo: x > 0.6 ? "left" : "right",
      text: `τ ${stop.name}: ${formatFinePercent(stop.skipped.value)} skipped, accuracy ${formatFinePercent(stop.accuracy.value)} (${formatFinePercentSpan(stop.accuracy)})`,
    };
  });
  const at = (x: number, y: number) => `${(100 * x).toFixed(2)} ${(100 - 100 * y).toFixed(2)}`;
  const path = (places: readonly string[]) => places.map((each, index) => `${index === 0 ? "M" : "L"}${each}`).join("");
  const upper = points.map(({ x, high: top }) => at(x, top));
  const lower = points.map(({ x, low: bottom }) => at(x, bottom));
  const all = stops.find(({ tau }) => tau > 1);
  return {
    points: apart(points),
    line: path(points.map(({ x, y }) => at(x, y))),
    band: `${path([...upper, ...lower.toReversed()])}Z`,
    always:
      all === undefined
        ? null
        : { at: place(all.accuracy.value), text: `always aggregating (modelled) ${formatFinePercent(all.accuracy.value)}` },
    xTicks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ at: share, text: formatPercent(share) })),
    yTicks: niceTicks({ low: 100 * low, high: 100 * high, count: 5 }).map((tick) => ({
      at: place(tick / 100),
      text: `${Number(tick.toFixed(2))}\u00a0%`,
    })),
  };
}
