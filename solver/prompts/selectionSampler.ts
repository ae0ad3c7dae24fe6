import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { allocate } from "./allocate";

export interface SelectionSampler {
  /** How many of each stratum are taken. */
  readonly allocation: ReadonlyMap<string, number>;
  /** Whether the next one, which is of this stratum, is taken. To be asked once for each one counted. */
  take(stratum: string): boolean;
}

/**
 * Chooses a stratified sample in one pass over what was counted before: exactly as many of each stratum as `allocate` says, every set of
 * so many equally likely (selection sampling, Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S). So each one has the same
 * chance, size by all there are. The same counts and seed choose the same ones of the same order.
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
