import { normalQuantile } from "./normal";
import { mean, quantileOfSorted } from "./quantile";
import { mixSeed, seededRandom } from "./random";
import { wassersteinOfSamples } from "./wasserstein";

/** A property of every request whose distribution a plan depends on, with its values in the planning sample. */
export interface Characteristic {
  /** Name in windows and states: "input tokens", "score of llama-3.1-8b". */
  readonly name: string;
  /** Tokens are compared by ratio, scores (0..100) by points. */
  readonly kind: "tokens" | "score";
  /** The model of these answers; left out for properties of all requests. */
  readonly model?: string;
  readonly values: ArrayLike<number>;
}

/** The traffic that a plan was made for. */
export interface PlannedTraffic {
  readonly requestsPerSecond: number;
  /** Recorded arrivals, unscaled: for the fluctuation of the rate in steady traffic. */
  readonly arrivalSeconds: Float64Array;
  readonly characteristics: readonly Characteristic[];
}

/**
 * The live traffic observed in some minutes. The source takes 50 requests every 5 minutes for the lengths, and sends 5 % of
 * the requests through all models for the scores.
 */
export interface TrafficWindow {
  /** All requests that arrived in it, not only the sampled ones. */
  readonly requests: number;
  readonly seconds: number;
  /** Values per characteristic, as many as there were; missing where none was observed. */
  readonly samples: Readonly<Record<string, ArrayLike<number> | undefined>>;
}

/** The state of one characteristic. */
interface DriftGauge {
  /**
   * Distance from the planned traffic divided by the distance that counts as drift, when last judged; null before. At 1 the distance
   * is both beyond chance and large enough to matter.
   */
  readonly level: number | null;
  /** The distance: the logarithm of a ratio for the rate and for tokens, points for scores. */
  readonly distance: number | null;
  readonly drifted: boolean;
  /** Consecutive judgements that contradict the current `drifted`. */
  readonly against: number;
  /** Values observed since the last judgement, still too few. */
  readonly pending: readonly number[];
}

/** By the characteristic's name; the arrival rate is called `RATE`. */
export type DriftState = Readonly<Record<string, DriftGauge>>;

/** The reference of `observeWindow`; made once per plan. */
export interface DriftReference {
  readonly requestsPerSecond: number;
  /** Variance of the logarithm of the rate over n requests, times n. */
  readonly rateVariance: number;
  readonly characteristics: readonly {
    readonly name: string;
    readonly kind: Characteristic["kind"];
    /** Planned values on the scale they are compared on, ascending. */
    readonly sorted: Float64Array;
    /** Distance that chance exceeds with `CHANCE`, times the square root of the sample's size. */
    readonly chance: number;
  }[];
}

const STEADY: DriftGauge = { level: null, distance: null, drifted: false, against: 0, pending: [] };

/** Name of the arrival rate among the characteristics. */
export const RATE = "rate";

/** Probability that a judgement of steady traffic shows a distance above the line, per characteristic. */
const CHANCE = 0.01;

/** Distances that matter to a plan: lengths and rates by a factor of 1.15, scores by 3 points. */
export const MATERIAL = { rate: Math.log(1.15), tokens: Math.log(1.15), score: 3 } as const;

/** A drifted gauge returns only below this level: the second threshold of the hysteresis. */
const RETURN_LEVEL = 0.7;

/** Minimum dwell: consecutive judgements before a gauge changes its state. */
const DWELL = 2;

/** Number of values per judgement: the source's 50 for lengths; scores vary more, and are pooled over windows until there are so many. */
const FULL_SAMPLE = { tokens: 50, score: 100 } as const;

/** Samples drawn from the planned values to estimate the effect of chance. */
const CHANCE_DRAWS = 2000;

/** Arrivals in a block; the durations of blocks contain the bursts that single gaps do not. */
const BLOCK = 50;

/**
 * Prepares the test of drift for a plan: the distance of windows of the planned traffic itself (resampled for lengths
 * and scores, by the variance of blocks of arrivals for the rate), so that a distance can be distinguished from chance.
 *
 * @throws RangeError when a characteristic has no values.
 */
export function driftReference(planned: PlannedTraffic, seed: number): DriftReference {
  const characteristics = planned.characteristics.map(({ name, kind, values }) => {
    if (values.length === 0) throw new RangeError(`The planned traffic has no values of ${name}`);
    const sorted = onScale(values, kind);
    const random = seededRandom(mixSeed(seed, "drift", name));
    const size = FULL_SAMPLE[kind];
    const distances = Float64Array.from({ length: CHANCE_DRAWS }, () => {
      const drawn = Float64Array.from({ length: size }, () => sorted[random.int(sorted.length)] ?? 0);
      return wassersteinOfSamples(drawn.sort(), sorted);
    });
    return { name, kind, sorted, chance: quantileOfSorted(distances.sort(), 1 - CHANCE) * Math.sqrt(size) };
  });
  return { requestsPerSecond: planned.requestsPerSecond, rateVariance: rateVariance(planned.arrivalSeconds), characteristics };
}

/** The state before anything was observed. */
export function steadyState({ characteristics }: DriftReference): DriftState {
  return Object.fromEntries([RATE, ...characteristics.map(({ name }) => name)].map((name) => [name, STEADY]));
}

/**
 * The state after one more window (the drift test of Cascadia, section 4.4, which names what is recorded and does not specify the
 * test). Each characteristic is judged separately: lengths and scores by their 1-Wasserstein distance to the planned
 * ones, the rate by the logarithm of its ratio. A gauge turns to drifted after `DWELL` consecutive judgements at level 1 or
 * above, and back after as many below `RETURN_LEVEL`. Windows must not share requests.
 */
export function observeWindow(reference: DriftReference, state: DriftState, window: TrafficWindow): DriftState {
  const next: Record<string, DriftGauge> = { [RATE]: turned(state[RATE] ?? STEADY, rateDistance(reference, window)) };
  for (const planned of reference.characteristics) {
    const before = state[planned.name] ?? STEADY;
    const pending = [...before.pending, ...Array.from(window.samples[planned.name] ?? [])];
    next[planned.name] =
      pending.length < FULL_SAMPLE[planned.kind]
        ? { ...before, pending }
        : turned({ ...before, pending: [] }, distanceTo(planned, pending));
  }
  return next;
}

/** Names of the characteristics that have drifted. */
export const driftedIn = (state: DriftState): string[] => Object.keys(state).filter((name) => state[name]?.drifted);

interface Measured {
  readonly level: number;
  readonly distance: number;
}

function rateDistance({ requestsPerSecond, rateVariance }: DriftReference, { requests, seconds }: TrafficWindow): Measured {
  const expected = requestsPerSecond * seconds;
  // Zero requests have a large but finite distance from any rate.
  const distance = Math.abs(Math.log(Math.max(0.5, requests) / expected));
  const chance = normalQuantile(1 - CHANCE / 2) * Math.sqrt(rateVariance / Math.max(1, expected));
  return { distance, level: distance / Math.max(chance, MATERIAL.rate) };
}

function distanceTo(planned: DriftReference["characteristics"][number], values: ArrayLike<number>): Measured {
  const distance = wassersteinOfSamples(onScale(values, planned.kind), planned.sorted);
  // Both are samples: the planned one has an error as well.
  const chance = planned.chance * Math.sqrt(1 / values.length + 1 / planned.sorted.length);
  return { distance, level: distance / Math.max(chance, MATERIAL[planned.kind]) };
}

function turned(before: DriftGauge, measured: Measured): DriftGauge {
  const speaksAgainst = before.drifted ? measured.level < RETURN_LEVEL : measured.level >= 1;
  const against = speaksAgainst ? before.against + 1 : 0;
  const turns = against >= DWELL;
  return { ...before, ...measured, drifted: turns ? !before.drifted : before.drifted, against: turns ? 0 : against };
}

/** Ascending values on the scale they are compared on. */
function onScale(values: ArrayLike<number>, kind: Characteristic["kind"]): Float64Array {
  const scaled = kind === "tokens" ? Float64Array.from(values, (tokens) => Math.log(Math.max(1, tokens))) : Float64Array.from(values);
  return scaled.sort();
}

/** Relative variance of the time of n arrivals, times n, from blocks of arrivals; at least that of a Poisson process, 1. */
function rateVariance(arrivalSeconds: Float64Array): number {
  const blocks = Math.floor((arrivalSeconds.length - 1) / BLOCK);
  if (blocks < 2) return 1;
  const durations = Float64Array.from({ length: blocks }, (_, at) => {
    const [from, to] = [arrivalSeconds[at * BLOCK] ?? 0, arrivalSeconds[(at + 1) * BLOCK] ?? 0];
    return to - from;
  });
  const centre = mean(durations);
  if (!(centre > 0)) return 1;
  return Math.max(1, (BLOCK * mean(durations.map((duration) => (duration / centre - 1) ** 2)) * blocks) / (blocks - 1));
}
