/**
 * Round numbers between two ends, about `count` of them: multiples of 1, 2 or 5 times a power of ten.
 *
 * @example niceTicks({ low: 0, high: 29.8, count: 5 }) // [0, 10, 20]
 */
export function niceTicks(range: { readonly low: number; readonly high: number; readonly count: number }): readonly number[] {
  const span = range.high - range.low;
  if (!(span > 0)) return [range.low];
  const rough = span / range.count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  // Counted in whole steps: adding a step again and again would drift.
  for (let index = Math.ceil(range.low / step); index * step <= range.high + step * 1e-9; index++)
    ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}
