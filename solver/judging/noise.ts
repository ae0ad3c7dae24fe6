/** One of several readings of an answer. For pairs queried in both orders, even readings are in one order, odd ones in the other. */
export interface RepeatedReading {
  readonly position: number;
  readonly model: string;
  readonly reading: number;
  readonly score: number | null;
}

/** Standard deviation of one reading in points, pooled over all answers that were read more than once in the same order; null: none was. */
export function noisePoints(readings: readonly RepeatedReading[], bothOrders: boolean): number | null {
  let squares = 0;
  let degrees = 0;
  for (const scores of grouped(readings, ({ reading }) => (bothOrders ? reading % 2 : 0)).values()) {
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    squares += scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
    degrees += scores.length - 1;
  }
  return degrees === 0 ? null : Math.sqrt(squares / degrees);
}

/** The share of pairs queried in both orders whose verdict differed between the orders; null: none was. */
export function orderFlips(readings: readonly RepeatedReading[]): number | null {
  const both = [...grouped(readings, ({ reading }) => Math.floor(reading / 2)).values()].filter(({ length }) => length === 2);
  return both.length === 0 ? null : both.filter(([first, second]) => first !== second).length / both.length;
}

function grouped(readings: readonly RepeatedReading[], of: (reading: RepeatedReading) => number): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const reading of readings) {
    if (reading.score === null) continue;
    const key = `${reading.position} ${of(reading)} ${reading.model}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [reading.score]);
    else group.push(reading.score);
  }
  return groups;
}
