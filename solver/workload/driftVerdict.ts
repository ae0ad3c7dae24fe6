import type { MeasuredFigure } from "./driftIntervals";

/** Whether a plan keeps its promise. */
export type PromiseVerdict = "kept" | "broken" | "too little measured" | "not comparable";

/** The promise of a figure: its band, and the side on which leaving the band breaks no promise. */
export interface Promised {
  readonly low: number;
  readonly high: number;
  readonly better: "lower" | "higher" | "neither";
}

/** Minimum numbers of values for the verdicts broken and kept. */
export interface Enough {
  readonly broken: number;
  readonly kept: number;
}

/**
 * Compares a measured figure with its promise. Broken only where the whole interval is beyond the band, so that sampling error
 * alone breaks nothing; kept where the figure is within the band, or better; and neither before enough was observed.
 */
export function verdictOf(
  measured: MeasuredFigure | null,
  { low, high, better }: Promised,
  enough: Enough,
): Exclude<PromiseVerdict, "not comparable"> {
  if (measured === null) return "too little measured";
  const over = better === "higher" ? Number.POSITIVE_INFINITY : high;
  const under = better === "lower" ? Number.NEGATIVE_INFINITY : low;
  if (measured.low > over || measured.high < under) return measured.count >= enough.broken ? "broken" : "too little measured";
  const within = measured.value >= under && measured.value <= over;
  return within && measured.count >= enough.kept ? "kept" : "too little measured";
}
