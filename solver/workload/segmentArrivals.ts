/** An interval, in seconds on the clock of the arrivals, excluding `to`. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

const lengthOf = (stretches: readonly Stretch[]): number => stretches.reduce((sum, { from, to }) => sum + to - from, 0);

/** Index of the first arrival not before a time. */
function firstFrom(arrivals: Float64Array, seconds: number): number {
  let [low, high] = [0, arrivals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((arrivals[middle] ?? 0) < seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The arrivals within some intervals, which are concatenated in the given order: the time between them is removed, and the
 * last arrival of one day's segment is followed by the first of the next day's.
 *
 * @param arrivals ascending.
 * @returns seconds since the first remaining arrival, ascending, and the total length of the intervals.
 */
export function segmentArrivals(
  arrivals: Float64Array,
  stretches: readonly Stretch[],
): { readonly arrivalSeconds: Float64Array; readonly seconds: number } {
  const laid: number[] = [];
  let laidSeconds = 0;
  for (const { from, to } of stretches) {
    for (let at = firstFrom(arrivals, from); at < arrivals.length; at += 1) {
      const seconds = arrivals[at] ?? 0;
      if (seconds >= to) break;
      laid.push(laidSeconds + seconds - from);
    }
    laidSeconds += to - from;
  }
  const first = laid[0] ?? 0;
  return { arrivalSeconds: Float64Array.from(laid, (seconds) => seconds - first), seconds: laidSeconds };
}

/** Mean rate within the intervals of each hour, in requests per second; null for an hour that has none. */
export function ratesByHour(arrivals: Float64Array, hours: readonly (readonly Stretch[])[]): readonly (number | null)[] {
  return hours.map((stretches) => {
    const seconds = lengthOf(stretches);
    const count = stretches.reduce((sum, { from, to }) => sum + firstFrom(arrivals, to) - firstFrom(arrivals, from), 0);
    return seconds > 0 ? count / seconds : null;
  });
}

/** The intersection of both: in the order of the first, and within each of them in that of the second. */
export function overlap(stretches: readonly Stretch[], others: readonly Stretch[]): readonly Stretch[] {
  return stretches.flatMap((one) =>
    others.map((other) => ({ from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) })).filter(({ from, to }) => from < to),
  );
}
