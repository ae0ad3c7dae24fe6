/** A stream of pseudo-random numbers. The same seed gives the same stream on every machine. */
export interface Random {
  /** Uniform in [0, 1) with 32 random bits. */
  next(): number;
  /** Uniform integer in [0, n). */
  int(n: number): number;
  /** Standard normal (mean 0, variance 1). */
  normal(): number;
  /** Exponential with the given rate; its mean is 1 / rate. */
  exponential(rate: number): number;
  /** Lognormal: exp of a normal with mean `mu` and standard deviation `sigma`. */
  lognormal(mu: number, sigma: number): number;
}

const TWO_POW_32 = 4294967296;

/** sfc32 mixes its seed well after a dozen rounds: PractRand's own seeding uses 12. */
const WARM_UP_ROUNDS = 12;

/**
 * Generator sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, period about 2^128, passes PractRand and BigCrush,
 * and needs 32-bit integer operations only, so it is exact in JavaScript.
 *
 * @param seed any finite number; only its low 32 bits and its quotient by 2^32 matter.
 * @example seededRandom(7).next() === seededRandom(7).next() // true
 */
export function seededRandom(seed: number): Random {
  if (!Number.isFinite(seed)) throw new Error(`A seed must be a finite number, found ${seed}`);
  let a = seed | 0;
  let b = Math.floor(seed / TWO_POW_32) | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;

  const bits = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) bits();

  const next = (): number => bits() / TWO_POW_32;
  /** In (0, 1], so that its logarithm is finite. */
  const nextPositive = (): number => (bits() + 1) / TWO_POW_32;
  // Box and Muller's transform without its second value: a stream without hidden state replays from any call.
  const normal = (): number => Math.sqrt(-2 * Math.log(nextPositive())) * Math.cos(2 * Math.PI * next());

  return {
    next,
    int: (n) => Math.floor(next() * n),
    normal,
    exponential: (rate) => -Math.log(nextPositive()) / rate,
    lognormal: (mu, sigma) => Math.exp(mu + sigma * normal()),
  };
}

/**
 * One 32-bit seed out of several parts (FNV-1a over their text, then murmur3's finaliser): independent streams for, say,
 * `mixSeed(workload.seed, "split")` and `mixSeed(workload.seed, "arrivals")`.
 */
export function mixSeed(...parts: readonly (number | string)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    // The type is part of the text, and parts are closed by a separator: (1, 23), (12, 3) and ("1", 23) all differ.
    const text = typeof part === "number" ? `${part}#` : `${part}"`;
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
