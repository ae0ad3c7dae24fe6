import type { ChartSpec, TimeWindow } from "./chartSpec";
import type { TimePicture } from "./prepareTimeChart";

/** A drag narrower than this was a click. */
export const LEAST_DRAG_PX = 5;
/** The narrowest zoom: it should contain some samples. */
const LEAST_ZOOM_MS = 5_000;

export interface ReadoutRow {
  readonly id: string;
  readonly name: string;
  readonly hue: string;
  readonly dashed: boolean;
  /** The value with its unit, and what the bucket held where that was more than one; `no sample` in a gap. */
  readonly text: string;
  /** Where it is drawn, in pixels from the top; null in a gap. */
  readonly y: number | null;
}

/**
 * The bucket nearest to a time; null where the window ends before it or is empty. A time that the window has moved past is clamped to its
 * edge; otherwise a crosshair set there would vanish.
 */
export function nearestBucket({ atMs, bucketMs, window }: TimePicture, wantedMs: number): number | null {
  if (atMs.length === 0 || wantedMs > window.toMs) return null;
  let [low, high] = [0, atMs.length - 1];
  const begins = Math.max(window.fromMs, wantedMs) - bucketMs / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((atMs[middle] ?? 0) < begins) low = middle + 1;
    else high = middle;
  }
  return low > 0 && begins - (atMs[low - 1] ?? 0) < (atMs[low] ?? 0) - begins ? low - 1 : low;
}

/** The values of one bucket, highest first, gaps last. */
export function readout(picture: TimePicture, bucket: number, format: ChartSpec["format"]): readonly ReadoutRow[] {
  const { size, top, bottom } = picture;
  return picture.series
    .map(({ id, name, hue, dashed, values, lows, highs }) => ({
      id,
      name,
      hue,
      dashed,
      value: values[bucket] ?? null,
      low: lows[bucket],
      high: highs[bucket],
    }))
    .toSorted((a, b) => (b.value ?? Number.NEGATIVE_INFINITY) - (a.value ?? Number.NEGATIVE_INFINITY))
    .map(({ value, low, high, ...row }) => ({
      ...row,
      text: value === null ? "no sample" : `${format(value)}${spread(low ?? value, high ?? value, format)}`,
      y: value === null ? null : size.height * (1 - (value - bottom) / (top - bottom)),
    }));
}

function spread(low: number, high: number, format: ChartSpec["format"]): string {
  const [from, to] = [format(low), format(high)];
  return from === to ? "" : ` (${from} to ${to})`;
}

/** The range of a window between two pixels of its plot, in any order; null where the drag was too short. */
export function draggedWindow({ window, size }: TimePicture, fromX: number, toX: number): TimeWindow | null {
  if (Math.abs(toX - fromX) < LEAST_DRAG_PX) return null;
  const timeAt = (x: number): number => window.fromMs + (Math.min(size.width, Math.max(0, x)) / size.width) * (window.toMs - window.fromMs);
  const [from, to] = [timeAt(Math.min(fromX, toX)), timeAt(Math.max(fromX, toX))];
  return within(window, (from + to) / 2, to - from);
}

/** Half of a window around a time in it; null where that would be too narrow to hold samples. */
export function zoomAround(window: TimeWindow, atMs: number): TimeWindow | null {
  const span = (window.toMs - window.fromMs) / 2;
  return span < LEAST_ZOOM_MS ? null : within(window, atMs, span);
}

/** A range around a time, of a minimum span, moved into the window. */
function within(window: TimeWindow, middleMs: number, wantedSpanMs: number): TimeWindow {
  const spanMs = Math.min(window.toMs - window.fromMs, Math.max(LEAST_ZOOM_MS, wantedSpanMs));
  const fromMs = Math.round(Math.min(window.toMs - spanMs, Math.max(window.fromMs, middleMs - spanMs / 2)));
  return { fromMs, toMs: Math.round(fromMs + spanMs) };
}
