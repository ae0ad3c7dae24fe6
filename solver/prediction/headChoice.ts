import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import type { FeatureMatrix } from "./binnedFeatures";
import type { ConfigurationRows } from "./configurationRows";
import { allLogits, fitHeads, type HeadBank, type HeadOutcomes } from "./headBank";
import { type HeadNetwork, hiddenUnits, networkEpochs, type SharedLayer } from "./headNetwork";
import { logLoss } from "./logistic";
import { platt } from "./penalisedHead";

/** Heads for all configurations, calibrated, and what they say of prompts that they were not fitted to. */
interface ChosenHeads {
  /** The hidden layer that the heads read; null where they read the features. */
  readonly layer: SharedLayer | null;
  readonly heads: HeadBank;
  /** Logits by prompt, then by head, of heads fitted without the prompt's part. */
  readonly leftOut: Float32Array;
  /** Sum of log losses of some heads there: less is better, over the same rows and seed. */
  readonly loss: number;
}

/** Prompts' features and outcomes, and the heads to learn. */
interface HeadRows extends Pick<ConfigurationRows, "accurate" | "programs"> {
  readonly matrix: FeatureMatrix;
  /** Number of configurations, and those that have a head. */
  readonly size: number;
  readonly heads: Int32Array;
  readonly seed: number;
}

/** Penalties tried on the features' components. */
const PENALTIES = [10, 3, 1, 0.3, 0.1, 0.03, 0.01];

/** Number of parts of the prompts, each of which is left out once. */
export const FOLDS = 3;

/** Heads on which the penalty and the calibration are selected, spread evenly over all. */
const MOST_CHOOSING_HEADS = 32;

/** Hidden units of a network, and the penalties tried on its weights. */
const UNITS = 16;
const NETWORK_PENALTIES = [0.1, 0.01, 0.001];

/** Epochs without a lower loss after which a network's training ends, and the number at which it does at the latest. */
const PATIENCE = 8;
const MOST_EPOCHS = 120;

/**
 * Logistic heads on the features. The penalty, and one slope and shift that map logits to outcomes (Platt 1999), are selected by threefold
 * cross-validation: by the heads' outputs for a third of the prompts that they were not fitted to.
 */
export function chooseLinear(given: HeadRows): ChosenHeads {
  const { matrix, heads } = given;
  const folds = foldsOf(given);
  const some = spread(heads);
  const logitsOf = (penalty: number, of: Int32Array): Float32Array =>
    leftOut(folds, of.length, ({ learnt, left, outcomes }) => allLogits(fitHeads(learnt, { ...outcomes, outcomes: of }, penalty), left));
  let best = { loss: Number.POSITIVE_INFINITY, penalty: 1, slope: 1, shift: 0 };
  for (const penalty of PENALTIES) {
    const fitted = calibration(given, logitsOf(penalty, some), some);
    if (fitted.loss < best.loss) best = { ...fitted, penalty };
  }
  const bank = fitHeads(matrix, outcomesOf(given), best.penalty);
  return calibrated({ layer: null, heads: bank, leftOut: logitsOf(best.penalty, heads) }, best);
}

/**
 * Heads on a hidden layer that they share (Aragog, section 3.1). Its penalty, the number of epochs after which its training stops and the
 * calibration are selected by the same cross-validation.
 */
export function chooseNetwork(given: HeadRows): ChosenHeads {
  const { matrix, heads, seed } = given;
  const folds = foldsOf(given);
  const some = spread(heads);
  /** What the networks of the folds say of their parts after every epoch. */
  function* epochsOf(penalty: number, of: Int32Array): Generator<Float32Array, never> {
    const trainings = folds.map(({ learnt, outcomes }, at) =>
      networkEpochs(learnt, { ...outcomes, outcomes: of }, { units: UNITS, penalty, seed: mixSeed(seed, `fold ${at}`) }),
    );
    for (;;) {
      const networks = trainings.map((training) => training.next().value);
      yield leftOut(folds, of.length, ({ left }, at) => networkLogits(networks[at] as HeadNetwork, left));
    }
  }
  let best = { loss: Number.POSITIVE_INFINITY, penalty: 0, epochs: 1, slope: 1, shift: 0 };
  for (const penalty of NETWORK_PENALTIES) {
    const { logits, epochs } = stopped(given, epochsOf(penalty, some), some);
    const fitted = calibration(given, logits, some);
    if (fitted.loss < best.loss) best = { ...fitted, penalty, epochs };
  }
  const network = after(best.epochs, networkEpochs(matrix, outcomesOf(given), { ...best, units: UNITS, seed: mixSeed(seed, "network") }));
  return calibrated({ ...network, leftOut: after(best.epochs, epochsOf(best.penalty, heads)) }, best);
}

/** The logits of left-out prompts after the epoch with the least loss, and its number: training stops once no later one was better for a while. */
function stopped(given: HeadRows, epochsOf: Generator<Float32Array, never>, heads: Int32Array) {
  const right = rightOf(given, heads);
  let best = { loss: Number.POSITIVE_INFINITY, logits: new Float32Array() as Float32Array, epochs: 0 };
  for (let epochs = 1; epochs <= MOST_EPOCHS && epochs - best.epochs <= PATIENCE; epochs += 1) {
    const logits = epochsOf.next().value;
    const loss = logits.reduce((sum, logit, at) => sum + logLoss(logit, right[at] ?? 0), 0);
    if (loss < best.loss) best = { loss, logits, epochs };
  }
  return best;
}

/** The value of an endless generator after so many steps, at least one. */
function after<Value>(steps: number, values: Generator<Value, never>): Value {
  for (let step = 1; step < steps; step += 1) values.next();
  return values.next().value;
}

const networkLogits = ({ layer, heads }: HeadNetwork, matrix: FeatureMatrix): Float32Array => allLogits(heads, hiddenUnits(layer, matrix));

/** Part of the prompts that is left out, and all others with their outcomes. */
interface Fold {
  readonly asked: Int32Array;
  readonly left: FeatureMatrix;
  readonly learnt: FeatureMatrix;
  readonly outcomes: HeadOutcomes;
}

function foldsOf(given: HeadRows): readonly Fold[] {
  const { matrix, seed } = given;
  const order = shuffled(matrix.rows, seededRandom(mixSeed(seed, "folds")));
  const { right, stride, weight, outcomes } = outcomesOf(given);
  return Array.from({ length: FOLDS }, (_, fold) => {
    const asked = order.filter((__, at) => at % FOLDS === fold);
    const learnt = order.filter((__, at) => at % FOLDS !== fold);
    return {
      asked,
      left: rowsOf(matrix, asked),
      learnt: rowsOf(matrix, learnt),
      outcomes: {
        right: rowsOf({ rows: matrix.rows, features: stride, values: right }, learnt).values,
        weight: Float32Array.from(learnt, (row) => weight[row] ?? 0),
        stride,
        outcomes,
      },
    };
  });
}

const outcomesOf = ({ accurate, programs, size, heads }: HeadRows): HeadOutcomes => ({
  right: accurate,
  stride: size,
  weight: programs,
  outcomes: heads,
});

function rowsOf({ features, values }: FeatureMatrix, rows: Int32Array): FeatureMatrix {
  const taken = new Float32Array(rows.length * features);
  for (const [at, row] of rows.entries()) taken.set(values.subarray(row * features, (row + 1) * features), at * features);
  return { rows: rows.length, features, values: taken };
}

/** Outputs for every prompt by what was fitted without the part that contains it: by prompt, then by head. */
function leftOut(folds: readonly Fold[], heads: number, logitsOf: (fold: Fold, at: number) => Float32Array): Float32Array {
  const said = new Float32Array(folds.reduce((sum, { asked }) => sum + asked.length, 0) * heads);
  for (const [fold, each] of folds.entries()) {
    const logits = logitsOf(each, fold);
    for (const [at, row] of each.asked.entries()) said.set(logits.subarray(at * heads, (at + 1) * heads), row * heads);
  }
  return said;
}

/** Some heads, spread evenly over all. */
const spread = (heads: Int32Array): Int32Array =>
  heads.filter(
    (_, at) => Math.floor((at * MOST_CHOOSING_HEADS) / heads.length) !== Math.floor(((at - 1) * MOST_CHOOSING_HEADS) / heads.length),
  );

/** Outcomes by prompt, then by head. */
const rightOf = ({ accurate, size, matrix }: HeadRows, heads: Int32Array): number[] =>
  Array.from({ length: matrix.rows }, (_, row) => Array.from(heads, (head) => accurate[row * size + head] ?? 0)).flat();

/** Slope and shift that map logits to outcomes, and the sum of log losses by them. */
function calibration(given: HeadRows, logits: Float32Array, heads: Int32Array) {
  const right = rightOf(given, heads);
  const { slope, shift } = platt([...logits], right);
  return { slope, shift, loss: logits.reduce((sum, logit, at) => sum + logLoss(slope * logit + shift, right[at] ?? 0), 0) };
}

function calibrated(
  { layer, heads: { features, bias, weights }, leftOut: said }: Omit<ChosenHeads, "loss">,
  { loss, slope, shift }: { readonly loss: number; readonly slope: number; readonly shift: number },
): ChosenHeads {
  return {
    ...{ loss, layer },
    heads: { features, bias: bias.map((value) => slope * value + shift), weights: weights.map((value) => slope * value) },
    leftOut: said.map((logit) => slope * logit + shift),
  };
}
