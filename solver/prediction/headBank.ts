import type { FeatureMatrix } from "./binnedFeatures";
import { sigmoid } from "./logistic";

/** Logistic heads that read the same features: head h has `bias[h]` and `weights[h * features ...]`. */
export interface HeadBank {
  readonly features: number;
  readonly bias: Float32Array;
  readonly weights: Float32Array;
}

/** Target outcomes of heads, by row, then by outcome; a head for each of the named outcomes. */
export interface HeadOutcomes {
  /** Shares in 0..1: `right[row * stride + outcome]`. */
  readonly right: Float32Array;
  readonly stride: number;
  /** Weight of each row. */
  readonly weight: ArrayLike<number>;
  readonly outcomes: Int32Array;
}

/** Number of heads fitted together: their logits of some thousand rows fit in the processor's cache. */
const BLOCK = 64;

const MOST_STEPS = 60;

/** Maximum step of a weight or bias in a converged fit. */
const ARRIVED = 1e-4;

/** Minimum curvature assumed for a head of nearly one outcome: its steps stay short. */
const LEAST_CURVATURE = 0.01;

/** Steps assume a loss whose curvature is larger than its mean over rows by this factor, which damps them where it curves more. */
const CAUTION = 1.5;

/**
 * Fits logistic heads with L2 regularisation, all to the same rows at once: each minimises its mean log loss plus `penalty / 2` times the
 * squared length of its weights, by steps along the negative gradient divided by the curvature of every feature, so that features must be
 * nearly uncorrelated, such as principal components. Outcomes are smoothed by half a row (Platt 1999), also for heads whose rows all have
 * one outcome.
 */
export function fitHeads(matrix: FeatureMatrix, given: HeadOutcomes, penalty: number): HeadBank {
  const { rows, features, values } = matrix;
  const { outcomes } = given;
  const share = rowShares(given.weight);
  const variance = variances(matrix, share);
  const bank = { features, bias: new Float32Array(outcomes.length), weights: new Float32Array(outcomes.length * features) };
  for (let from = 0; from < outcomes.length; from += BLOCK) {
    const block = outcomes.subarray(from, from + BLOCK);
    const width = block.length;
    const target = smoothedOutcomes({ ...given, outcomes: block });
    const bias = new Float64Array(width);
    for (let row = 0; row < rows; row++) {
      for (let at = 0; at < width; at++) bias[at] = (bias[at] ?? 0) + (target[row * width + at] ?? 0) * (share[row] ?? 0);
    }
    for (let at = 0; at < width; at++) bias[at] = Math.log((bias[at] ?? 0.5) / (1 - (bias[at] ?? 0.5)));
    /** By feature, then by head. */
    const weights = new Float64Array(features * width);
    const misses = new Float64Array(rows * width);
    for (let step = 0, moved = 1; step < MOST_STEPS && moved > ARRIVED; step++) {
      const curvature = missesOf({ values, features, share, target, bias, weights }, misses);
      const gradient = new Float64Array(features * width);
      const shift = new Float64Array(width);
      for (let row = 0; row < rows; row++) {
        for (let at = 0; at < width; at++) shift[at] = (shift[at] ?? 0) + (misses[row * width + at] ?? 0);
        for (let feature = 0; feature < features; feature++) {
          const value = values[row * features + feature] ?? 0;
          const to = feature * width;
          for (let at = 0; at < width; at++) gradient[to + at] = (gradient[to + at] ?? 0) + value * (misses[row * width + at] ?? 0);
        }
      }
      moved = 0;
      for (let at = 0; at < width; at++) {
        const curved = CAUTION * Math.max(curvature[at] ?? 0, LEAST_CURVATURE);
        const move = (shift[at] ?? 0) / curved;
        bias[at] = (bias[at] ?? 0) - move;
        moved = Math.max(moved, Math.abs(move));
        for (let feature = 0; feature < features; feature++) {
          const of = feature * width + at;
          const slope = (gradient[of] ?? 0) + penalty * (weights[of] ?? 0);
          const by = slope / (curved * (variance[feature] ?? 0) + penalty);
          weights[of] = (weights[of] ?? 0) - by;
          moved = Math.max(moved, Math.abs(by));
        }
      }
    }
    bank.bias.set(bias, from);
    for (let at = 0; at < width; at++) {
      for (let feature = 0; feature < features; feature++)
        bank.weights[(from + at) * features + feature] = weights[feature * width + at] ?? 0;
    }
  }
  return bank;
}

const sumOf = (weight: ArrayLike<number>): number => Array.from(weight).reduce((sum, each) => sum + each, 0);

/** The weight of every row as a share of all weights. */
export function rowShares(weight: ArrayLike<number>): Float64Array {
  const whole = sumOf(weight);
  return Float64Array.from(weight, (each) => each / whole);
}

/** Target outcomes by row, then by named head, smoothed by half a row: heads whose rows all have one outcome stay finite. */
export function smoothedOutcomes({ right, stride, weight, outcomes }: HeadOutcomes): Float64Array {
  const whole = sumOf(weight);
  const target = new Float64Array(weight.length * outcomes.length);
  for (let row = 0; row < weight.length; row++) {
    for (const [at, outcome] of outcomes.entries())
      target[row * outcomes.length + at] = ((right[row * stride + outcome] ?? 0) * whole + 0.5) / (whole + 1);
  }
  return target;
}

interface BlockFit {
  readonly values: Float32Array;
  readonly features: number;
  readonly share: Float64Array;
  readonly target: Float64Array;
  readonly bias: Float64Array;
  readonly weights: Float64Array;
}

/** Writes the deviation of every head from its outcomes, weighted by row, and returns the heads' mean curvatures. */
function missesOf({ values, features, share, target, bias, weights }: BlockFit, misses: Float64Array): Float64Array {
  const width = bias.length;
  const curvature = new Float64Array(width);
  const logits = new Float64Array(width);
  for (const [row, counts] of share.entries()) {
    logits.set(bias);
    for (let feature = 0; feature < features; feature++) {
      const value = values[row * features + feature] ?? 0;
      const from = feature * width;
      for (let at = 0; at < width; at++) logits[at] = (logits[at] ?? 0) + value * (weights[from + at] ?? 0);
    }
    for (let at = 0; at < width; at++) {
      const chance = sigmoid(logits[at] ?? 0);
      curvature[at] = (curvature[at] ?? 0) + counts * chance * (1 - chance);
      misses[row * width + at] = counts * (chance - (target[row * width + at] ?? 0));
    }
  }
  return curvature;
}

function variances({ rows, features, values }: FeatureMatrix, share: Float64Array): Float64Array {
  const variance = new Float64Array(features);
  for (let row = 0; row < rows; row++) {
    for (let feature = 0; feature < features; feature++) {
      variance[feature] = (variance[feature] ?? 0) + (share[row] ?? 0) * (values[row * features + feature] ?? 0) ** 2;
    }
  }
  return variance;
}

/**
 * Whether heads accept rows, one row and one head per pair, in one pass over the pairs: 1 where the logit is `least` or more.
 *
 * @param pairs parallel.
 */
export function verdicts(
  { features, bias, weights }: HeadBank,
  { values }: FeatureMatrix,
  pairs: { readonly row: Int32Array; readonly head: Int32Array },
  least: number,
): Uint8Array {
  const accepts = new Uint8Array(pairs.row.length);
  for (let at = 0; at < accepts.length; at++) {
    const head = pairs.head[at] ?? 0;
    const [own, read] = [head * features, (pairs.row[at] ?? 0) * features];
    let sum = bias[head] ?? 0;
    for (let feature = 0; feature < features; feature++) sum += (weights[own + feature] ?? 0) * (values[read + feature] ?? 0);
    accepts[at] = sum >= least ? 1 : 0;
  }
  return accepts;
}

/** Logits of all heads for all rows: by row, then by head. */
export function allLogits({ features, bias, weights }: HeadBank, { rows, values }: FeatureMatrix): Float32Array {
  const heads = bias.length;
  const logits = new Float32Array(rows * heads);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads; head++) {
      const [own, read] = [head * features, row * features];
      let sum = bias[head] ?? 0;
      for (let feature = 0; feature < features; feature++) sum += (weights[own + feature] ?? 0) * (values[read + feature] ?? 0);
      logits[row * heads + head] = sum;
    }
  }
  return logits;
}
