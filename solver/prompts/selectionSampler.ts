import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { allocate } from "./allocate";

export interface SelectionSampler {
  /** Number of selected items of each stratum. */
  readonly allocation: ReadonlyMap<string, number>;
  /** Whether the next item, of this stratum, is selected. To be called once for each counted item. */
  take(stratum: string): boolean;
}

/**
 * Selects a stratified sample in one pass over previously counted items: exactly as many of each stratum as `allocate` returns, every set
 * of that size equally likely (selection sampling, Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S). So each item has the same
 * probability, size divided by the total. The same counts and seed select the same items of the same order.
 */
export function selectionSampler(counts: ReadonlyMap<string, number>, size: number, seed: number): SelectionSampler {
  const allocation = allocate(counts, size, seed);
  const remaining = new Map([...counts].map(([stratum, count]) => [stratum, { count, wanted: allocation.get(stratum) ?? 0 }]));
  const random = seededRandom(mixSeed(seed, "sample"));
  return {
    allocation,
    take(stratum) {
      const left = remaining.get(stratum);
      if (left === undefined || left.count === 0) throw new RangeError(`More of the stratum ${stratum} came than were counted`);
      const isTaken = random.next() * left.count < left.wanted;
      left.count -= 1;
      if (isTaken) left.wanted -= 1;
      return isTaken;
    },
  };
}
