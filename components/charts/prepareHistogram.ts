import type { Histogram } from "@/server/contracts/studio";

interface Bar {
  readonly key: string;
  /** Place and size as fractions of the box, 0..1. */
  readonly x: number;
  readonly width: number;
  readonly height: number;
  /** The bar's content, in words. */
  readonly text: string;
}

export interface HistogramPicture {
  readonly bars: readonly Bar[];
  readonly low: string;
  readonly high: string;
  readonly total: number;
}

/** Computes bars from counts between edges. Widths follow the edges, so that unequal bins keep their place on the axis. */
export function prepareHistogram(histogram: Histogram, format: (value: number) => string): HistogramPicture {
  const { edges, counts } = histogram;
  const low = edges[0] ?? 0;
  const high = edges.at(-1) ?? 0;
  const span = high - low || 1;
  const most = counts.reduce((best, count) => Math.max(best, count), 0) || 1;
  return {
    bars: counts.map((count, index) => {
      const from = edges[index] ?? low;
      const to = edges[index + 1] ?? high;
      return {
        key: String(from),
        x: (from - low) / span,
        width: (to - from) / span,
        height: count / most,
        text: `${format(from)} to ${format(to)}: ${count}`,
      };
    }),
    low: format(low),
    high: format(high),
    total: counts.reduce((sum, count) => sum + count, 0),
  };
}
