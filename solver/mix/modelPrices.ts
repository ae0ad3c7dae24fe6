/** Up to so many models every combination of prices is tried. */
const MOST_COMBINED = 4;
const FACTORS = [0.25, 1, 4] as const;

/**
 * Prices of the models' work, at which the cheapest ways to serve a class are candidates of a mix: a model of which there is plenty costs a
 * quarter of its GPUs' time, a scarce one four times as much. The dual prices of the mix lie somewhere among them (column generation with
 * given prices in place of those of a master program).
 *
 * @param gpus by model, of a replica that does one unit of work a second.
 */
export function modelPrices(gpus: readonly number[]): readonly (readonly number[])[] {
  const factors = gpus.length <= MOST_COMBINED ? combinations(gpus.length) : oneAtATime(gpus.length);
  const vectors = factors.map((own) => own.map((factor, model) => factor * (gpus[model] ?? 1)));
  const direction = (own: readonly number[]): string => own.map((price) => (price / (own[0] ?? 1)).toPrecision(6)).join();
  return [...new Map(vectors.map((own) => [direction(own), own])).values()];
}

function combinations(models: number): readonly (readonly number[])[] {
  if (models === 0) return [[]];
  return combinations(models - 1).flatMap((before) => FACTORS.map((factor) => [...before, factor]));
}

/** All alike, and each model alone plentiful or scarce. */
function oneAtATime(models: number): readonly (readonly number[])[] {
  const alike = Array.from({ length: models }, () => 1);
  const others = FACTORS.filter((factor) => factor !== 1);
  return [alike, ...alike.flatMap((_, model) => others.map((factor) => alike.map((one, at) => (at === model ? factor : one))))];
}

/** What work costs at prices. */
export const costAt = (prices: readonly number[], work: ArrayLike<number>): number =>
  prices.reduce((sum, price, model) => sum + price * (work[model] ?? 0), 0);

/** The ways that are cheapest at one of the prices at least, each once, in the order given; of ways of equal cost the first. */
export function cheapestOf<Way extends { readonly work: readonly number[] }>(
  ways: readonly Way[],
  prices: readonly (readonly number[])[],
): readonly Way[] {
  const found = new Set<Way>();
  for (const own of prices) {
    let [best, least]: [Way | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const way of ways) {
      const cost = costAt(own, way.work);
      if (cost < least) [best, least] = [way, cost];
    }
    if (best !== null) found.add(best);
  }
  return ways.filter((way) => found.has(way));
}
