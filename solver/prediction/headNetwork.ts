import { seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import type { FeatureMatrix } from "./binnedFeatures";
import { type HeadBank, type HeadOutcomes, rowShares, smoothedOutcomes } from "./headBank";
import { logLoss, sigmoid } from "./logistic";

/** A hidden layer that heads share: unit u is tanh(`bias[u]` + `weights[u * features ...]` . row). */
export interface SharedLayer {
  readonly features: number;
  readonly bias: Float32Array;
  readonly weights: Float32Array;
}

/** Heads that read the units of one hidden layer (Aragog, section 3.1: an embedding, then a small classifier). */
export interface HeadNetwork {
  readonly layer: SharedLayer;
  readonly heads: HeadBank;
}

/** Numbers of a network: of its inputs, its hidden units and its outputs. */
interface NetworkShape {
  readonly features: number;
  readonly units: number;
  readonly heads: number;
}

/** Rows to learn from, with the target share of every head by row, and the weight of every row; weights sum up to 1. */
interface NetworkRows {
  readonly matrix: FeatureMatrix;
  readonly target: Float64Array;
  readonly share: Float64Array;
}

interface NetworkSettings {
  readonly units: number;
  /** L2 regularisation of the weights, not of biases, as in `fitHeads`. */
  readonly penalty: number;
  readonly seed: number;
}

/** Rows of a step. */
const BATCH = 32;

/** Adam (Kingma and Ba 2015) with its usual decays. */
const ADAM = { rate: 0.003, first: 0.9, second: 0.999, floor: 1e-8 } as const;

/** The hidden units of every row, which are the features that heads read. */
export function hiddenUnits({ features, bias, weights }: SharedLayer, { rows, values }: FeatureMatrix): FeatureMatrix {
  const units = bias.length;
  const hidden = new Float32Array(rows * units);
  for (let row = 0; row < rows; row++) {
    for (let unit = 0; unit < units; unit++) {
      let sum = bias[unit] ?? 0;
      for (let at = 0; at < features; at++) sum += (weights[unit * features + at] ?? 0) * (values[row * features + at] ?? 0);
      hidden[row * units + unit] = Math.tanh(sum);
    }
  }
  return { rows, features: units, values: hidden };
}

/**
 * Trains a network by minibatch Adam, and gives it as it is after every epoch, without end: whoever reads it stops where prompts left out of
 * the rows say so. It begins at the heads' mean outcomes. The same rows and seed give the same networks.
 */
export function* networkEpochs(
  matrix: FeatureMatrix,
  outcomes: HeadOutcomes,
  { units, penalty, seed }: NetworkSettings,
): Generator<HeadNetwork, never> {
  const [target, share] = [smoothedOutcomes(outcomes), rowShares(outcomes.weight)];
  const shape = { features: matrix.features, units, heads: outcomes.outcomes.length };
  const random = seededRandom(seed);
  const point = initialPoint(shape, { matrix, target, share }, random.normal);
  const [gradient, first, second] = [new Float64Array(point.length), new Float64Array(point.length), new Float64Array(point.length)];
  for (let step = 0; ; ) {
    const order = shuffled(matrix.rows, random);
    for (let from = 0; from < order.length; from += BATCH) {
      networkLoss(shape, point, { ...rowsAt({ matrix, target, share }, order.subarray(from, from + BATCH)), penalty }, gradient);
      step += 1;
      const [faded, fadedSquare] = [1 - ADAM.first ** step, 1 - ADAM.second ** step];
      for (const [at, slope] of gradient.entries()) {
        const mean = ADAM.first * (first[at] ?? 0) + (1 - ADAM.first) * slope;
        const square = ADAM.second * (second[at] ?? 0) + (1 - ADAM.second) * slope * slope;
        first[at] = mean;
        second[at] = square;
        point[at] = (point[at] ?? 0) - (ADAM.rate * (mean / faded)) / (Math.sqrt(square / fadedSquare) + ADAM.floor);
      }
    }
    yield networkAt(shape, point);
  }
}

/** Where the parts of a network begin in its numbers: biases and weights of the units, then those of the heads. */
const partsOf = ({ features, units, heads }: NetworkShape) => {
  const [weights, headBias] = [units, units + units * features];
  return { weights, headBias, headWeights: headBias + heads, end: headBias + heads + heads * units };
};

/**
 * Loss of a network's numbers on rows: the mean log loss of the heads, plus `penalty / 2` times the squared length of the units' weights and
 * of the weights of a mean head. Writes its gradient.
 *
 * @param point as `partsOf` lays it out.
 */
export function networkLoss(
  shape: NetworkShape,
  point: Float64Array,
  { matrix: { rows, values }, target, share, penalty }: NetworkRows & Pick<NetworkSettings, "penalty">,
  gradient: Float64Array,
): number {
  const { features, units, heads } = shape;
  const { weights, headBias, headWeights, end } = partsOf(shape);
  gradient.fill(0);
  let loss = 0;
  const hidden = new Float64Array(units);
  const back = new Float64Array(units);
  for (let row = 0; row < rows; row++) {
    const counts = (share[row] ?? 0) / heads;
    for (let unit = 0; unit < units; unit++) {
      let sum = point[unit] ?? 0;
      const own = weights + unit * features;
      for (let at = 0; at < features; at++) sum += (point[own + at] ?? 0) * (values[row * features + at] ?? 0);
      hidden[unit] = Math.tanh(sum);
    }
    back.fill(0);
    for (let head = 0; head < heads; head++) {
      const own = headWeights + head * units;
      let logit = point[headBias + head] ?? 0;
      for (let unit = 0; unit < units; unit++) logit += (point[own + unit] ?? 0) * (hidden[unit] ?? 0);
      const right = target[row * heads + head] ?? 0;
      loss += counts * logLoss(logit, right);
      const miss = counts * (sigmoid(logit) - right);
      gradient[headBias + head] = (gradient[headBias + head] ?? 0) + miss;
      for (let unit = 0; unit < units; unit++) {
        gradient[own + unit] = (gradient[own + unit] ?? 0) + miss * (hidden[unit] ?? 0);
        back[unit] = (back[unit] ?? 0) + miss * (point[own + unit] ?? 0);
      }
    }
    for (let unit = 0; unit < units; unit++) {
      const slope = (back[unit] ?? 0) * (1 - (hidden[unit] ?? 0) ** 2);
      const own = weights + unit * features;
      gradient[unit] = (gradient[unit] ?? 0) + slope;
      for (let at = 0; at < features; at++) gradient[own + at] = (gradient[own + at] ?? 0) + slope * (values[row * features + at] ?? 0);
    }
  }
  const penalise = (from: number, to: number, by: number): void => {
    for (let at = from; at < to; at++) {
      loss += (by / 2) * (point[at] ?? 0) ** 2;
      gradient[at] = (gradient[at] ?? 0) + by * (point[at] ?? 0);
    }
  };
  penalise(weights, headBias, penalty);
  penalise(headWeights, end, penalty / heads);
  return loss;
}

/** Units of pre-activations of deviation 1 for the rows, and heads that give their mean outcomes. */
function initialPoint(shape: NetworkShape, { matrix, target, share }: NetworkRows, normal: () => number): Float64Array {
  const { weights, headBias, end } = partsOf(shape);
  const point = new Float64Array(end);
  const square = matrix.values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, matrix.rows);
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let at = weights; at < headBias; at++) point[at] = scale * normal();
  for (let head = 0; head < shape.heads; head++) {
    const mean = share.reduce((sum, counts, row) => sum + counts * (target[row * shape.heads + head] ?? 0), 0);
    point[headBias + head] = Math.log(mean / (1 - mean));
  }
  return point;
}

function rowsAt({ matrix, target, share }: NetworkRows, rows: Int32Array): NetworkRows {
  const { features } = matrix;
  const heads = target.length / matrix.rows;
  const some = { values: new Float32Array(rows.length * features), target: new Float64Array(rows.length * heads) };
  const whole = rows.reduce((sum, row) => sum + (share[row] ?? 0), 0);
  for (const [at, row] of rows.entries()) {
    some.values.set(matrix.values.subarray(row * features, (row + 1) * features), at * features);
    some.target.set(target.subarray(row * heads, (row + 1) * heads), at * heads);
  }
  return {
    matrix: { rows: rows.length, features, values: some.values },
    target: some.target,
    share: Float64Array.from(rows, (row) => (whole > 0 ? (share[row] ?? 0) / whole : 0)),
  };
}

function networkAt(shape: NetworkShape, point: Float64Array): HeadNetwork {
  const { weights, headBias, headWeights, end } = partsOf(shape);
  const part = (from: number, to: number): Float32Array => Float32Array.from(point.subarray(from, to));
  return {
    layer: { features: shape.features, bias: part(0, weights), weights: part(weights, headBias) },
    heads: { features: shape.units, bias: part(headBias, headWeights), weights: part(headWeights, end) },
  };
}
