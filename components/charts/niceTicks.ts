/** Steps finer than this share of the ends are lost in a number's precision: no tick would differ from the next. */
const LEAST_STEP = 1e-11;

/**
 * Round numbers between two ends, about `count` of them: multiples of 1, 2 or 5 times a power of ten. The lower end alone where the ends
 * are all but one number.
 *
 * @example niceTicks({ low: 0, high: 29.8, count: 5 }) // [0, 10, 20]
 */
export function niceTicks(range: { readonly low: number; readonly high: number; readonly count: number }): readonly number[] {
  const span = range.high - range.low;
  if (!(span > 0)) return [range.low];
  const rough = span / range.count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  if (!(step > LEAST_STEP * Math.max(Math.abs(range.low), Math.abs(range.high)))) return [range.low];
  const ticks: number[] = [];
  // Counted in whole steps: adding a step again and again would drift.
  for (let index = Math.ceil(range.low / step); index * step <= range.high + step * 1e-9; index++)
    ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}
