import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import { wassersteinOfQuantiles, wassersteinOfSamples } from "@/solver/numeric/wasserstein";
import { type KeptDistribution, QUANTILE_STEPS } from "./workflowSnapshot";
import type { DistributionView } from "./workflowsView";

/** Observations that count at most: the newest. */
const WINDOW = 512;
/** Fresh observations that are compared with what is in force. */
const BATCH = 32;
/** Observations before which nothing counts as settled: a few that are alike by chance are no distribution. */
const LEAST_SETTLED = 32;
/** Distance over the mean under which a doubled sample is what it was before. The source says a predefined threshold, and not which. */
const SETTLED_WITHIN = 0.1;
/**
 * A batch is another distribution where it is this many times further away than the usual error of such samples, ∫√(F(1-F)) √(1/n + 1/m). Of a distribution's own
 * batches 0.1 % of exponential ones are beyond 2.5, and 1 to 2 % of those with two modes or rare large values.
 */
const BEYOND_CHANCE = 2.5;

/**
 * A distribution learnt online (Kairos, section 4.3). While it is being learnt, each doubling of the sample is compared with what it was before, by
 * 1-Wasserstein distance over the mean: within 0.1 it has converged. From then on fresh batches of 32 are compared with what is in force. Two
 * running that are another distribution, by more than chance explains, take its place, and learning begins anew; all others join the window of the newest
 * 512, so that old observations fade either way. O(1) per observation on average, at most some 4 KB.
 */
export class DecayingDistribution {
  /** The oldest stands at `oldest`, once the window is full. */
  private window: number[] = [];
  private oldest = 0;
  /** Observed and not yet counted; a sixteenth of those that are, so that counting them costs little each. */
  private batch: number[] = [];
  /** A batch that is another distribution; the next one tells whether it came by chance. */
  private suspect: readonly number[] = [];
  private observations = 0;
  private state: DistributionView["state"] = "empty";
  private shape: Shape | null = null;

  /** @param kept values finite; as many observations as values, or more. */
  constructor(kept?: KeptDistribution) {
    if (kept === undefined) return;
    this.observations = kept.observations;
    this.state = kept.state;
    this.window = kept.values.length <= QUANTILE_STEPS ? [...kept.values] : spread(kept.values, Math.min(WINDOW, kept.observations));
  }

  /** @param value finite. */
  add(value: number): void {
    this.batch.push(value);
    if (this.batch.length >= this.batchSize()) this.count();
  }

  /** Observations that count, since it was begun or last begun anew. */
  get observed(): number {
    return this.observations;
  }

  /** 33 values at probabilities 0, 1/32, ..., 1; empty where nothing was observed. */
  get quantiles(): readonly number[] {
    return this.shaped().quantiles;
  }

  /** NaN where nothing was observed. */
  get median(): number {
    return this.quantiles[QUANTILE_STEPS / 2] ?? Number.NaN;
  }

  /** Where the density is highest; null where nothing was observed. */
  get mode(): number | null {
    return this.shaped().mode;
  }

  view(): DistributionView {
    const { quantiles, mode } = this.shaped();
    return { observations: this.observations, state: this.state, quantilesSeconds: quantiles, modeSeconds: mode };
  }

  /** Restored, it has the same view. What has not been counted yet, at most 64 observations, is not kept. */
  keep(): KeptDistribution {
    const values = this.window.length <= QUANTILE_STEPS ? this.window : this.quantiles;
    return { observations: this.observations, state: this.state, values: [...values] };
  }

  /** The largest power of two within a sixteenth of what counts, so that every doubling is met; what has converged is compared by whole batches. */
  private batchSize(): number {
    if (this.state === "converged") return BATCH;
    return Math.min(BATCH, 2 ** Math.floor(Math.log2(Math.max(1, this.observations / 16))));
  }

  private count(): void {
    const fresh = this.batch;
    this.batch = [];
    if (this.state === "converged" && differs(fresh, this.quantiles, this.window.length)) {
      if (this.suspect.length === 0) this.suspect = fresh;
      else this.restartFrom([...this.suspect, ...fresh]);
      return;
    }
    for (const value of [...this.suspect, ...fresh]) this.push(value);
    this.suspect = [];
    this.shape = null;
    if (this.state === "empty") this.state = "learning";
    if (this.state === "converged" || this.observations < LEAST_SETTLED || !isPowerOfTwo(this.observations)) return;
    const inOrder = [...this.window.slice(this.oldest), ...this.window.slice(0, this.oldest)];
    this.state = settled(inOrder) ? "converged" : "learning";
  }

  private push(value: number): void {
    this.observations += 1;
    if (this.window.length < WINDOW) {
      this.window.push(value);
      return;
    }
    this.window[this.oldest] = value;
    this.oldest = (this.oldest + 1) % WINDOW;
  }

  private restartFrom(values: number[]): void {
    this.window = values;
    this.oldest = 0;
    this.observations = values.length;
    this.state = "drifted";
    this.suspect = [];
    this.shape = null;
  }

  private shaped(): Shape {
    if (this.shape !== null) return this.shape;
    const quantiles = quantilesOf(this.window);
    this.shape = { quantiles, mode: densestValue(quantiles) };
    return this.shape;
  }
}

interface Shape {
  readonly quantiles: readonly number[];
  readonly mode: number | null;
}

const sorted = (values: readonly number[]): Float64Array => new Float64Array(values).sort();

function quantilesOf(values: readonly number[]): readonly number[] {
  const ascending = sorted(values);
  const steps = ascending.length === 0 ? 0 : QUANTILE_STEPS + 1;
  return Array.from({ length: steps }, (_, at) => quantileOfSorted(ascending, at / QUANTILE_STEPS));
}

const isPowerOfTwo = (count: number): boolean => Number.isInteger(Math.log2(count));

/** Whether doubling a sample hardly moved it; beyond the window's length the newer half of the window is what was added. */
function settled(values: readonly number[]): boolean {
  const before = sorted(values.slice(0, values.length / 2));
  return wassersteinOfSamples(before, sorted(values)) <= SETTLED_WITHIN * Math.abs(mean(values));
}

/** Whether fresh values are of another distribution than the one with these quantiles, made of so many values. */
function differs(fresh: readonly number[], quantiles: readonly number[], count: number): boolean {
  let spreadSeconds = 0;
  for (let at = 1; at < quantiles.length; at += 1) {
    const below = (at - 0.5) / QUANTILE_STEPS;
    spreadSeconds += Math.sqrt(below * (1 - below)) * ((quantiles[at] ?? 0) - (quantiles[at - 1] ?? 0));
  }
  const chance = spreadSeconds * Math.sqrt(1 / fresh.length + 1 / count);
  const distance = wassersteinOfQuantiles(quantilesOf(fresh), quantiles);
  return distance > Math.max(SETTLED_WITHIN * Math.abs(mean(quantiles)), BEYOND_CHANCE * chance);
}

/** About so many values, at most, that have these quantiles; in an order in which any stretch of them has nearly the same. */
function spread(quantiles: readonly number[], count: number): number[] {
  const ascending = sorted(quantiles);
  const steps = QUANTILE_STEPS * Math.max(1, Math.floor((count - 1) / QUANTILE_STEPS));
  const values = Array.from({ length: steps + 1 }, (_, at) => quantileOfSorted(ascending, at / steps));
  // Steps of about the golden ratio lead through all values, evenly at any time.
  const stride = coprimeNear(0.618 * values.length, values.length);
  return values.map((_, at) => values[(at * stride) % values.length] ?? 0);
}

function coprimeNear(wanted: number, count: number): number {
  let candidate = Math.max(1, Math.round(wanted));
  while (divisor(candidate, count) !== 1) candidate += 1;
  return candidate;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Share of the probability, in steps, within which density is not looked at more closely: with less, chance decides where it is highest. */
const NARROWEST_STEPS = 4;

/**
 * Mode of a distribution by its quantiles: of all stretches with half of the probability the shortest, of those within it with a quarter again, and so on
 * down to an eighth (half-sample mode, Robertson and Cryer 1974), whose middle it is. Of equally short ones the most central.
 *
 * @param quantiles ascending, at 32 equal steps of probability.
 * @returns null where there are none.
 */
export function densestValue(quantiles: readonly number[]): number | null {
  if (quantiles.length === 0) return null;
  let first = 0;
  let steps = quantiles.length - 1;
  while (steps > NARROWEST_STEPS) {
    const half = steps >> 1;
    first = shortestStretch(quantiles, first, first + steps - half, half);
    steps = half;
  }
  return quantiles[first + (steps >> 1)] ?? null;
}

/** Where the shortest stretch of so many steps begins. */
function shortestStretch(quantiles: readonly number[], from: number, to: number, steps: number): number {
  const middle = (from + to) / 2;
  let best = from;
  let shortest = Number.POSITIVE_INFINITY;
  for (let at = from; at <= to; at += 1) {
    const length = (quantiles[at + steps] ?? 0) - (quantiles[at] ?? 0);
    if (length < shortest || (length === shortest && Math.abs(at - middle) < Math.abs(best - middle))) {
      best = at;
      shortest = length;
    }
  }
  return best;
}
