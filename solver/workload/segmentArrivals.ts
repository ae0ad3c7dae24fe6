/** A stretch of time, in seconds on the clock of the arrivals; `to` is not in it any more. */
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
 * The arrivals within some stretches of time, which are laid end to end in the order given: what lies between them is left out, and the
 * last arrival of one day's segment is followed by the first of the next day's.
 *
 * @param arrivals ascending.
 * @returns seconds since the first arrival that is left, ascending, and how long the stretches are together.
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

/** Mean rate within the stretches of each hour, in requests per second; null for an hour that has none. */
export function ratesByHour(arrivals: Float64Array, hours: readonly (readonly Stretch[])[]): readonly (number | null)[] {
  return hours.map((stretches) => {
    const seconds = lengthOf(stretches);
    const count = stretches.reduce((sum, { from, to }) => sum + firstFrom(arrivals, to) - firstFrom(arrivals, from), 0);
    return seconds > 0 ? count / seconds : null;
  });
}

/** What lies in both: in the order of the first, and within each of them in that of the second. */
export function overlap(stretches: readonly Stretch[], others: readonly Stretch[]): readonly Stretch[] {
  return stretches.flatMap((one) =>
    others.map((other) => ({ from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) })).filter(({ from, to }) => from < to),
  );
}
