import type { MeasuredFigure } from "./driftIntervals";

/** Whether a plan does what it promised. */
export type PromiseVerdict = "kept" | "broken" | "too little measured" | "not comparable";

/** What was promised of a figure: the band it was to lie in, and the side on which leaving it breaks no promise. */
export interface Promised {
  readonly low: number;
  readonly high: number;
  readonly better: "lower" | "higher" | "neither";
}

/** Values before a figure says that a promise is broken, and before it says that one is kept. */
export interface Enough {
  readonly broken: number;
  readonly kept: number;
}

/**
 * Holds a measured figure against its promise. Broken is said only where the whole interval lies beyond the band, so that what sampling
 * shows by itself breaks nothing; kept where the figure lies within, or better; and neither before enough was seen.
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
