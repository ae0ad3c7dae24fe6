import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { PlanAxis } from "@/solver/cascade/explore/paretoFront";
import { formatCount, formatPercent, formatScore, formatSeconds, formatUsd } from "../ui/format";

/** The quantities of the chart's two axes; never the same. */
export interface FrontierAxes {
  readonly x: PlanAxis;
  readonly y: PlanAxis;
}

interface AxisText {
  /** In lists and chips. */
  readonly name: string;
  readonly unit: string;
  readonly format: (value: number) => string;
  /** Ticks are round: their digits say it all. */
  readonly tick: (value: number) => string;
}

const plain = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 9 });

export const axisTexts: Readonly<Record<PlanAxis, AxisText>> = {
  quality: { name: "Quality", unit: "", format: formatScore, tick: plain },
  latency: { name: "p95 latency", unit: "s", format: formatSeconds, tick: (value) => `${plain(value)} s` },
  cost: { name: "Cost per request", unit: "$", format: formatUsd, tick: (value) => `$${plain(value)}` },
  gpus: { name: "GPUs", unit: "", format: formatCount, tick: plain },
};

/**
 * What an axis measures under these knobs, with its unit.
 *
 * @param mixed whether the cluster has several GPU types: the tables count GPUs in its own mix of them, at their average price.
 */
export function axisLabel(axis: PlanAxis, knobs: Pick<Knobs, "latency" | "qualityConfidence">, mixed: boolean): string {
  if (axis === "quality")
    return knobs.qualityConfidence === null ? "quality" : `quality, lower ${formatPercent(knobs.qualityConfidence)} bound`;
  if (axis === "latency") return knobs.latency === "end-to-end" ? "p95 end to end, s" : "largest stage p95, s";
  return `${axis === "cost" ? "cost per request, $" : "GPUs"}${mixed ? ", at the cluster's average price" : ""}`;
}

/** A value on an axis, with the digits that distinguish plans there. */
export function roundOn(axis: PlanAxis, value: number): number {
  if (axis === "quality") return Math.round(value * 10) / 10;
  return axis === "gpus" ? Math.round(value) : Number(value.toPrecision(3));
}
