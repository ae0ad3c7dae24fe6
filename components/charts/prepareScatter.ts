import { niceTicks } from "./niceTicks";

/** One prediction next to the measurement, both in seconds, drawn with a letter. */
export interface ScatterInput {
  /** Its identity, such as a line of a file. */
  readonly key: number;
  readonly measured: number;
  readonly predicted: number;
  readonly letter: string;
  readonly hue: string;
}

export interface ScatterPoint extends ScatterInput {
  /** Place inside the plot, 0..1 from the lower left. */
  readonly x: number;
  readonly y: number;
  /** Direction in which the prediction is beyond the plot; it is drawn at the edge. */
  readonly clipped: "above" | "below" | null;
  readonly outside: boolean;
}

interface ScatterTick {
  readonly at: number;
  readonly seconds: number;
  /** Whether there is room for its number. */
  readonly labelled: boolean;
}

export interface ScatterPicture {
  readonly points: readonly ScatterPoint[];
  /** The same seconds on both axes, so that the diagonal is where predicted equals measured. */
  readonly domain: readonly [number, number];
  readonly ticks: readonly ScatterTick[];
  /** How far the lines of +10 % and -10 % run from the diagonal, as shares of an axis. */
  readonly bandUp: number;
  readonly bandDown: number;
  /**
   * Of all points given, those drawn and those left out because a logarithmic axis cannot show them; of those drawn, the counts by region.
   */
  readonly counts: { readonly drawn: number; readonly inBand: number; readonly clipped: number; readonly leftOut: number };
}

const BAND = 0.1;

/** Room around the measured values, as a factor. */
const MARGIN = 1.25;

/**
 * Predictions that miss the measurement by more than this factor beyond its ends are drawn at the edge: one of them would flatten all
 * others.
 */
const MOST_STRETCH = 3;

/** Labels per decade there is room for, by decades shown. */
const labelled = (decades: number): readonly number[] => (decades > 3 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 5]);

/** Fewer numbers on an axis do not tell its scale. */
const LEAST_LABELS = 3;

/** Steps asked for, at most 2.5 of which become one: never fewer than the least labels. */
const EQUAL_STEPS = 8;

/** Computes everything about a log-log chart of predicted against measured: domain, ticks, band, and which points are beyond it. */
export function prepareScatter(inputs: readonly ScatterInput[]): ScatterPicture | null {
  const drawable = inputs.filter(({ measured, predicted }) => [measured, predicted].every((value) => value > 0 && Number.isFinite(value)));
  if (drawable.length === 0) return null;
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const { measured } of drawable) [least, most] = [Math.min(least, measured), Math.max(most, measured)];
  let [low, high] = [least, most];
  for (const { predicted } of drawable) {
    low = Math.min(low, Math.max(predicted, least / MOST_STRETCH));
    high = Math.max(high, Math.min(predicted, most * MOST_STRETCH));
  }
  const domain = [low / MARGIN, high * MARGIN] as const;
  const start = Math.log10(domain[0]);
  const span = Math.log10(domain[1]) - start;
  const place = (seconds: number): number => (Math.log10(seconds) - start) / span;

  const points = drawable.map((input): ScatterPoint => {
    const y = place(input.predicted);
    return {
      ...input,
      x: place(input.measured),
      y: Math.min(1, Math.max(0, y)),
      clipped: y > 1 ? "above" : y < 0 ? "below" : null,
      outside: Math.abs(input.predicted / input.measured - 1) > BAND,
    };
  });
  return {
    points,
    domain,
    ticks: ticksOf(start, span).map((tick) => ({ ...tick, at: place(tick.seconds) })),
    bandUp: Math.log10(1 + BAND) / span,
    bandDown: -Math.log10(1 - BAND) / span,
    counts: {
      drawn: points.length,
      inBand: points.filter((point) => !point.outside).length,
      clipped: points.filter((point) => point.clipped !== null).length,
      leftOut: inputs.length - points.length,
    },
  };
}

/** 1, 2, 3, 5 times every power of ten inside the domain; where that names too few, as on a narrow range, equal steps of 1, 2 or 5. */
function ticksOf(start: number, span: number): readonly Omit<ScatterTick, "at">[] {
  const ticks: Omit<ScatterTick, "at">[] = [];
  for (let power = Math.floor(start); power <= start + span; power++) {
    for (const factor of [1, 2, 3, 5]) {
      const seconds = Number(`${factor}e${power}`);
      const inside = Math.log10(seconds) >= start && Math.log10(seconds) <= start + span;
      if (inside) ticks.push({ seconds, labelled: labelled(span).includes(factor) });
    }
  }
  if (ticks.filter((tick) => tick.labelled).length >= LEAST_LABELS) return ticks;
  return niceTicks({ low: 10 ** start, high: 10 ** (start + span), count: EQUAL_STEPS }).map((seconds) => ({ seconds, labelled: true }));
}

/** The point nearest to a place of the plot, within `reach` of it; both in pixels of a plot `width` by `height`. */
export function nearestPoint(
  { points }: ScatterPicture,
  at: { readonly x: number; readonly y: number },
  plot: { readonly width: number; readonly height: number; readonly reach: number },
): ScatterPoint | null {
  let best: ScatterPoint | null = null;
  let bestDistance = plot.reach ** 2;
  for (const point of points) {
    const distance = (point.x * plot.width - at.x) ** 2 + ((1 - point.y) * plot.height - at.y) ** 2;
    if (distance <= bestDistance) [best, bestDistance] = [point, distance];
  }
  return best;
}
