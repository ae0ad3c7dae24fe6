import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import { wassersteinOfQuantiles, wassersteinOfSamples } from "@/solver/numeric/wasserstein";
import { type KeptDistribution, QUANTILE_STEPS } from "./workflowSnapshot";
import type { DistributionView } from "./workflowsView";

/** Maximum number of observations that count: the newest. */
const WINDOW = 512;
/** Size of a batch of fresh observations that is compared with the current distribution. */
const BATCH = 32;
/** Number of observations before the distribution can converge: fewer that are similar by chance are no distribution. */
const LEAST_SETTLED = 8;
/**
 * Distance divided by the mean below which a doubled sample counts as unchanged. The source does not give its predefined threshold. With 0.1
 * exponential latencies need 128 to 256 observations, and calls of such agents wait unordered for as long; with 0.2, 32 to 64.
 */
const SETTLED_WITHIN = 0.2;
/** Distance divided by the mean up to which a batch is of the same distribution, however narrow that is. */
const SAME_WITHIN = 0.1;
/**
 * A batch is another distribution if its distance exceeds this multiple of the usual error of such samples, ∫√(F(1-F)) √(1/n + 1/m). Of a
 * distribution's own batches 0.1 % of exponential ones are beyond 2.5, and 1 to 2 % of those with two modes or rare large values.
 */
const BEYOND_CHANCE = 2.5;

/**
 * A distribution learnt online (Kairos, section 4.3). During learning, each doubling of the sample is compared with the sample before it,
 * by 1-Wasserstein distance divided by the mean: within 0.2 it has converged. From then on fresh batches of 32 are compared with the
 * current distribution. Two consecutive batches of another distribution, beyond chance, replace it, and learning restarts; all others join
 * the window of the newest 512, so that old observations fade either way. Only what has converged is used for decisions (`settled`).
 * O(1) per observation on average, at most some 4 KB.
 */
export class DecayingDistribution {
  /** The oldest is at index `oldest`, once the window is full. */
  private window: number[] = [];
  private oldest = 0;
  /** Observed and not yet counted; a sixteenth of the counted ones, so that the amortised cost of counting is small. */
  private batch: number[] = [];
  /** The size at which the batch is counted. */
  private nextBatch = 1;
  /** A batch of another distribution; the next batch shows whether it was chance. */
  private suspect: readonly number[] = [];
  private observations = 0;
  private state: DistributionView["state"] = "empty";
  private shape: Shape | null = null;
  private lastSettled: Shape | null = null;

  /** @param kept values finite; the number of observations is at least that of values. */
  constructor(kept?: KeptDistribution) {
    if (kept === undefined) return;
    this.observations = kept.observations;
    this.state = kept.state;
    if (kept.settled !== undefined) this.lastSettled = { quantiles: kept.settled, mode: densestValue(kept.settled) };
    this.window = kept.values.length <= QUANTILE_STEPS ? [...kept.values] : spread(kept.values, Math.min(WINDOW, kept.observations));
    this.nextBatch = this.batchSize();
  }

  /** @param value finite. */
  add(value: number): void {
    this.batch.push(value);
    if (this.batch.length < this.nextBatch) return;
    this.count();
    this.nextBatch = this.batchSize();
  }

  /** Number of observations that count, since the start or the last restart. */
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

  /**
   * Quantiles and mode of the distribution that converged; null before the first does. While another one is learnt after a drift it is that
   * of before: the source uses a distribution only once it has converged.
   */
  get settled(): Shape | null {
    if (this.state === "converged") this.lastSettled = this.shaped();
    return this.lastSettled;
  }

  view(): DistributionView {
    const { quantiles, mode } = this.shaped();
    return { observations: this.observations, state: this.state, quantilesSeconds: quantiles, modeSeconds: mode };
  }

  /** A restored distribution has the same view. Observations not yet counted, at most 64, are not saved. */
  keep(): KeptDistribution {
    const values = this.window.length <= QUANTILE_STEPS ? this.window : this.quantiles;
    const before = this.state === "converged" ? undefined : this.lastSettled?.quantiles;
    return { observations: this.observations, state: this.state, values: [...values], ...(before && { settled: [...before] }) };
  }

  /**
   * The largest power of two within a sixteenth of the count, so that every doubling is met; once converged, whole batches, or as many as
   * there were where these are fewer.
   */
  private batchSize(): number {
    if (this.state === "converged") return Math.min(BATCH, this.observations);
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
    this.state = isSettled(inOrder) ? "converged" : "learning";
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
    this.lastSettled = this.settled;
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

export interface Shape {
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

/** Whether doubling a sample hardly changed it; beyond the window's length the newer half of the window counts as the added part. */
function isSettled(values: readonly number[]): boolean {
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
  return distance > Math.max(SAME_WITHIN * Math.abs(mean(quantiles)), BEYOND_CHANCE * chance);
}

/** At most about so many values that have these quantiles, in an order in which any part has nearly the same quantiles. */
function spread(quantiles: readonly number[], count: number): number[] {
  const ascending = sorted(quantiles);
  const steps = QUANTILE_STEPS * Math.max(1, Math.floor((count - 1) / QUANTILE_STEPS));
  const values = Array.from({ length: steps + 1 }, (_, at) => quantileOfSorted(ascending, at / steps));
  // Steps of about the golden ratio visit all values, evenly at any time.
  const stride = coprimeNear(0.618 * values.length, values.length);
  return values.map((_, at) => values[(at * stride) % values.length] ?? 0);
}

function coprimeNear(wanted: number, count: number): number {
  let candidate = Math.max(1, Math.round(wanted));
  while (divisor(candidate, count) !== 1) candidate += 1;
  return candidate;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Minimum share of the probability, in steps, for the density: with less, chance decides where it is highest. */
const NARROWEST_STEPS = 4;

/**
 * Mode of a distribution by its quantiles: the shortest interval with half of the probability, within it the shortest with a quarter, and
 * so on down to an eighth (half-sample mode, Robertson and Cryer 1974), whose middle it is. Of equally short ones the most central.
 *
 * @param quantiles ascending, at 32 equal steps of probability.
 * @returns null for empty quantiles.
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

/** The start of the shortest interval of so many steps. */
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
