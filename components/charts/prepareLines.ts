import { niceTicks } from "./niceTicks";

/** A value with its interval; null: unknown. */
export interface LinePoint {
  readonly x: number;
  readonly y: number;
  readonly xSpan: readonly [number, number] | null;
  readonly ySpan: readonly [number, number] | null;
  /** Label at the point and in the readout: distinguishes it from others of its line. */
  readonly tag: string;
}

export interface LineInput {
  readonly key: string;
  readonly name: string;
  readonly letter: string;
  readonly hue: string;
  readonly dash: string;
  readonly points: readonly LinePoint[];
  /** A line to compare others with, whose points have neither letters nor a readout. */
  readonly unmarked?: true;
}

interface LineAxis {
  readonly title: string;
  readonly format: (value: number) => string;
  /** Whether the axis begins at 0, unless it is logarithmic. */
  readonly fromZero?: boolean;
  /** Ends that are known beforehand. */
  readonly domain?: readonly [number, number];
}

export interface LineSpec {
  readonly lines: readonly LineInput[];
  readonly x: LineAxis;
  readonly y: LineAxis;
  /** Points with their letters; else lines alone, each with its letter once. */
  readonly marked: boolean;
}

export interface DrawnPoint {
  readonly key: string;
  readonly line: string;
  /** From the lower left, 0..1. */
  readonly x: number;
  readonly y: number;
  readonly xBar: readonly [number, number] | null;
  readonly yBar: readonly [number, number] | null;
  readonly letter: string;
  /** Letters drawn in its place before its own, which is shifted next to them, towards the middle of the plot. */
  readonly beside: number;
  readonly tag: string;
  readonly hue: string;
  /** In the readout: `Chimera, τ 0.5: quality 71.2 ±0.4, latency 12.1 s`. */
  readonly text: string;
}

export interface LinesPicture {
  readonly lines: readonly {
    readonly key: string;
    readonly hue: string;
    readonly dash: string;
    readonly path: string;
    /** Position of its letter where not every point has one: not all in one place. */
    readonly labelled: DrawnPoint;
  }[];
  readonly points: readonly DrawnPoint[];
  readonly marked: boolean;
  readonly x: DrawnAxis;
  readonly y: DrawnAxis;
}

interface DrawnAxis {
  readonly title: string;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** Values further apart than this factor are drawn on a logarithmic axis: one slow system would flatten all others. */
const LOG_FACTOR = 8;

/** Values closer together than this share of themselves are drawn as one. */
const LEAST_SPREAD = 1e-6;

interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
  readonly logarithmic: boolean;
}

function scaleOf(axis: LineAxis, values: readonly number[], count: number): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (axis.domain !== undefined) [low, high] = axis.domain;
  const logarithmic = axis.domain === undefined && low > 0 && high / low > LOG_FACTOR;
  if (logarithmic) {
    const [start, end] = [Math.log10(low) - 0.05, Math.log10(high) + 0.05];
    const ticks: number[] = [];
    const factors = end - start > 2.5 ? [1] : end - start > 1.5 ? [1, 3] : [1, 2, 5];
    for (let power = Math.floor(start); power <= end; power += 1) for (const factor of factors) ticks.push(Number(`${factor}e${power}`));
    const place = (value: number) => (Math.log10(value) - start) / (end - start);
    return { place, ticks: ticks.filter((tick) => place(tick) >= 0 && place(tick) <= 1), logarithmic };
  }
  if (axis.domain === undefined) {
    // Values that differ only by rounding would need ticks finer than the precision of numbers.
    const span = high - low > Math.abs(high) * LEAST_SPREAD ? high - low : Math.abs(high) || 1;
    low = axis.fromZero && low >= 0 ? 0 : low - 0.06 * span;
    high += 0.06 * span;
  }
  const [start, span] = [low, high - low];
  return { place: (value) => (value - start) / span, ticks: niceTicks({ low, high, count }), logarithmic };
}

const drawnAxis = (axis: LineAxis, scale: Scale): DrawnAxis => ({
  title: scale.logarithmic ? `${axis.title}, logarithmic` : axis.title,
  ticks: scale.ticks.map((tick) => ({ at: scale.place(tick), text: axis.format(tick) })),
});

/** The letters of points closer than these shares of the plot would overlap. */
const NEAR = { x: 0.012, y: 0.05 } as const;

/** How many letters precede each point's own where points coincide; positive ones go right, negative ones left. */
function besides(points: readonly Pick<DrawnPoint, "x" | "y">[]): readonly number[] {
  const places: number[] = [];
  for (const [at, { x, y }] of points.entries()) {
    const taken = points.slice(0, at).flatMap((other, index) => {
      return Math.abs(other.x - x) < NEAR.x && Math.abs(other.y - y) < NEAR.y ? [Math.abs(places[index] ?? 0) + 1] : [];
    });
    const place = Math.max(0, ...taken);
    places.push(x > 0.5 ? -place : place);
  }
  return places;
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** Computes everything about lines over two axes: scales, ticks, paths, intervals as bars, words. null: there is nothing to draw. */
export function prepareLines({ lines, x, y, marked }: LineSpec): LinesPicture | null {
  const drawable = lines
    .map((line) => ({ ...line, points: line.points.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)) }))
    .filter(({ points }) => points.length > 0);
  if (drawable.length === 0) return null;
  const all = drawable.flatMap(({ points }) => points);
  const xScale = scaleOf(x, all.flatMap((point) => [point.x, ...(point.xSpan ?? [])]).filter(Number.isFinite), 6);
  const yScale = scaleOf(y, all.flatMap((point) => [point.y, ...(point.ySpan ?? [])]).filter(Number.isFinite), 5);
  const bar = (scale: Scale, span: readonly [number, number] | null) =>
    span && ([clamp(scale.place(span[0])), clamp(scale.place(span[1]))] as const);
  const within = (span: readonly [number, number] | null, format: (value: number) => string) =>
    span === null ? "" : ` (${format(span[0])} to ${format(span[1])})`;

  const drawn = drawable.map((line) => ({
    line,
    points: line.points.map(
      (point, index): DrawnPoint => ({
        key: `${line.key} ${index}`,
        line: line.key,
        x: clamp(xScale.place(point.x)),
        y: clamp(yScale.place(point.y)),
        xBar: bar(xScale, point.xSpan),
        yBar: bar(yScale, point.ySpan),
        letter: line.letter,
        beside: 0,
        tag: point.tag,
        hue: line.hue,
        text: `${line.letter} ${line.name}${point.tag === "" ? "" : `, ${point.tag}`}: ${x.title} ${x.format(point.x)}${within(point.xSpan, x.format)}, ${y.title} ${y.format(point.y)}${within(point.ySpan, y.format)}`,
      }),
    ),
  }));
  const points = drawn.flatMap((each) => (each.line.unmarked ? [] : each.points));
  const places = marked ? besides(points) : [];
  return {
    lines: drawn.flatMap(({ line, points }, at) => {
      const labelled = points[Math.floor(points.length * (0.3 + (0.6 * at) / drawn.length))];
      const path = points.map(
        (point, index) => `${index === 0 ? "M" : "L"}${(point.x * 100).toFixed(2)} ${(100 - point.y * 100).toFixed(2)}`,
      );
      return labelled === undefined ? [] : [{ key: line.key, hue: line.hue, dash: line.dash, path: path.join(""), labelled }];
    }),
    points: points.map((point, at) => ({ ...point, beside: places[at] || 0 })),
    marked,
    x: drawnAxis(x, xScale),
    y: drawnAxis(y, yScale),
  };
}

/** The point nearest to a place of the plot, within `reach` of it; all in pixels of a plot `width` by `height`. */
export function nearestOf(
  { points }: Pick<LinesPicture, "points">,
  at: { readonly x: number; readonly y: number },
  plot: { readonly width: number; readonly height: number; readonly reach: number },
): DrawnPoint | null {
  let best: DrawnPoint | null = null;
  let bestDistance = plot.reach ** 2;
  for (const point of points) {
    const distance = (point.x * plot.width - at.x) ** 2 + ((1 - point.y) * plot.height - at.y) ** 2;
    if (distance <= bestDistance) [best, bestDistance] = [point, distance];
  }
  return best;
}
