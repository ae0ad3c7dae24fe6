import type { OwnFigure, SourceFigure } from "@/server/cli/reproduce/reproduction";
import type { Measurement } from "../lib/benchmark";

/** How a benchmark's figure is brought to the source's unit. */
const conversions = {
  /** A ratio of ours to another's as per cent less. */
  "per cent less": { unit: "% less", of: (ratio: number) => 100 * (1 - ratio) },
  /** A ratio of another's to ours, likewise. */
  "per cent less than the other": { unit: "% less", of: (ratio: number) => 100 * (1 - 1 / ratio) },
  "per cent more": { unit: "% more", of: (ratio: number) => 100 * (ratio - 1) },
  seconds: { unit: "s", of: (milliseconds: number) => milliseconds / 1000 },
} as const;

/** What measures one or several figures of a source. */
export interface MeasuredRows {
  /** As the source's figures name it. */
  readonly figure: string;
  /** Part of the names of those rows; left out: all of the figure that no earlier entry has. */
  readonly rows?: string;
  /** The benchmark by its name; left out: nothing measures it, and `difference` says why. */
  readonly benchmark?: string;
  readonly as?: keyof typeof conversions;
  /** Why the two differ, or why nothing measures it; in sentences. */
  readonly difference: string;
}

const NOTHING: Omit<MeasuredRows, "figure"> = { difference: "No benchmark of this repository measures it." };

/** The entry of a source's row: the first that fits. */
export const entryOf = (entries: readonly MeasuredRows[], { figure, what }: SourceFigure): Omit<MeasuredRows, "figure"> =>
  entries.find((entry) => figureName(entry.figure) === figureName(figure) && (entry.rows === undefined || what.includes(entry.rows))) ??
  NOTHING;

/** The same name for `Figure 5`, `fig. 5` and `5`, and for `Table 1`, `T1` and `table 1`. */
export const figureName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/^(figure|fig\.?)\s*/, "")
    .replace(/^(table|t)\s*(?=\d)/, "table ");

/** A benchmark's measurement as the figure of a row. */
export function ownFigure(
  benchmark: string,
  { figure, text, unit, detail, interval, seeds }: Measurement,
  as: MeasuredRows["as"],
): OwnFigure {
  const conversion = as === undefined ? { unit, of: (value: number) => value } : conversions[as];
  const ends = interval === undefined ? null : [conversion.of(interval.low), conversion.of(interval.high)].sort((a, b) => a - b);
  return {
    ...{
      kind: "measured",
      value: text ?? (Number.isFinite(figure) ? conversion.of(figure) : null),
      unit: conversion.unit,
      benchmark,
      detail,
    },
    interval: ends === null ? null : { low: ends[0] ?? Number.NaN, high: ends[1] ?? Number.NaN },
    seeds: seeds ?? null,
  };
}
