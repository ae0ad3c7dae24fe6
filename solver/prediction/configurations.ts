import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { type ConfigurationSpace, configurationSpace } from "@/solver/workflow/configurationSpace";
import { workflowShape } from "@/solver/workflow/workflowShape";
import { acceptanceThreshold } from "./acceptance";
import type { FeatureMatrix } from "./binnedFeatures";
import { searchChains, searchContext } from "./chainSearch";
import type { ConfigurationRows } from "./configurationRows";
import { allLogits, fitHeads, type HeadBank, verdicts } from "./headBank";
import { logLoss } from "./logistic";
import { platt } from "./penalisedHead";
import type { ConfigurationSearch, RequestFacts } from "./predictor";
import { componentsOf, learnReading, type PromptReading, readPrompts } from "./promptReading";

/** A trained predictor of accurate configurations, as it is stored. */
export interface ConfigurationArtefact {
  readonly kind: "configurations";
  /** Smallest first. */
  readonly models: readonly string[];
  /** The workflow of the configurations, without the agents' instructions. */
  readonly workflow: WorkflowDocument;
  readonly reading: PromptReading;
  /** One for every configuration except the last, that of the largest models. */
  readonly heads: HeadBank;
  /** Probability from which on a head accepts; at 1 none does. */
  readonly threshold: number;
}

/** Penalties tried on the features' components. */
const PENALTIES = [10, 3, 1, 0.3, 0.1, 0.03, 0.01];

const FOLDS = 3;

/** Heads on which the penalty and the calibration are selected, spread evenly over all. */
const MOST_CHOOSING_HEADS = 32;

/**
 * Trains a head for every configuration except that of the largest models: logistic regression on features of the prompt that all of them
 * share (Aragog, section 3.1). The penalty, one slope and shift that map logits to outcomes (Platt 1999) and the threshold are selected by
 * threefold cross-validation: by the heads' outputs for a third of the prompts that they were not fitted to. The same rows and seed give
 * the same artefact.
 *
 * @throws RangeError without prompts of known quality for the selection, or where the workflow has a single configuration.
 */
export function trainConfigurations(rows: ConfigurationRows, { seed }: { readonly seed: number }): ConfigurationArtefact {
  const { workflow, space, facts, embeddings } = rows;
  if (space.size < 2) throw new RangeError(`${workflow.name} has one configuration: there is nothing to choose`);
  if (!rows.programs.some((count) => count > 0)) throw new RangeError(`No program of ${workflow.name} of which is known how good it is`);
  if (facts.length < 2 * FOLDS) throw new RangeError(`No heads can be learnt of ${facts.length} prompts: at least ${2 * FOLDS} are needed`);
  const reading = learnReading(facts, embeddings, mixSeed(seed, "reading"));
  const matrix = embeddings === undefined ? readPrompts(reading)(facts) : componentsOf(reading, embeddings.values);
  const folds = foldsOf(matrix, rows, seed);
  const heads = Int32Array.from({ length: space.size - 1 }, (_, head) => head);
  const some = heads.filter(
    (head) => Math.floor((head * MOST_CHOOSING_HEADS) / heads.length) !== Math.floor(((head - 1) * MOST_CHOOSING_HEADS) / heads.length),
  );
  const right = Array.from(facts.keys()).flatMap((row) => Array.from(some, (head) => rows.accurate[row * space.size + head] ?? 0));
  let best = { loss: Number.POSITIVE_INFINITY, penalty: 1, slope: 1, shift: 0 };
  for (const penalty of PENALTIES) {
    const said = [...leftOut(folds, some, penalty)];
    const { slope, shift } = platt(said, right);
    const loss = said.reduce((sum, logit, at) => sum + logLoss(slope * logit + shift, right[at] ?? 0), 0);
    if (loss < best.loss) best = { loss, penalty, slope, shift };
  }
  const said = leftOut(folds, heads, best.penalty).map((logit) => best.slope * logit + best.shift);
  const threshold = acceptanceThreshold(said, { ...rows, size: space.size, cheapestFirst: cheapestFirst(space) });
  const { features, bias, weights } = fitHeads(
    matrix,
    { right: rows.accurate, stride: space.size, weight: rows.programs, outcomes: heads },
    best.penalty,
  );
  return {
    kind: "configurations",
    models: space.models,
    workflow: workflowShape(workflow),
    reading,
    heads: { features, bias: bias.map((value) => best.slope * value + best.shift), weights: weights.map((value) => best.slope * value) },
    threshold,
  };
}

/** The predictor of a trained artefact. */
export function configurationPredictor(artefact: ConfigurationArtefact): ConfigurationPredictor {
  const { workflow, models, reading, heads, threshold } = artefact;
  const space = configurationSpace(workflow, models);
  const ground = searchContext(space.options.map(({ length }) => length));
  const least = Math.log(threshold / (1 - threshold));
  const search = (matrix: FeatureMatrix, headsAllowed?: () => number) =>
    searchChains(
      ground,
      matrix.rows,
      ({ prompt, configuration }) => verdicts(heads, matrix, { row: prompt, head: configuration }, least),
      headsAllowed,
    );
  const read = reading.words === null ? null : readPrompts(reading);
  return {
    artefact,
    space,
    predict(facts: readonly RequestFacts[], headsAllowed) {
      if (read === null) throw new RangeError("These heads read an encoder's embeddings, not words");
      return search(read(facts), headsAllowed);
    },
    predictOfEmbeddings(values, headsAllowed) {
      if (read !== null) throw new RangeError("These heads read words, not an encoder's embeddings");
      return search(componentsOf(reading, values), headsAllowed);
    },
  };
}

/** Configurations by ascending number of steps up from the smallest models: the cost order where no costs are given. */
export function cheapestFirst({ size, options, choiceOf, steps }: ConfigurationSpace): Int32Array {
  const rank = Int32Array.from({ length: size }, (_, configuration) =>
    choiceOf.reduce(
      (sum, choice) => sum + (options[choice]?.[Math.floor(configuration / (steps[choice] ?? 1)) % (options[choice]?.length ?? 1)] ?? 0),
      0,
    ),
  );
  return Int32Array.from({ length: size }, (_, at) => at).sort((one, other) => (rank[one] ?? 0) - (rank[other] ?? 0) || one - other);
}

/** A part of the prompts, and all others. */
interface Fold {
  readonly asked: Int32Array;
  readonly left: FeatureMatrix;
  readonly learnt: FeatureMatrix;
  readonly right: Float32Array;
  readonly weight: Float32Array;
  readonly stride: number;
}

function foldsOf(matrix: FeatureMatrix, { accurate, programs, space }: ConfigurationRows, seed: number): readonly Fold[] {
  const order = shuffled(matrix.rows, seededRandom(mixSeed(seed, "folds")));
  return Array.from({ length: FOLDS }, (_, fold) => {
    const asked = order.filter((__, at) => at % FOLDS === fold);
    const learnt = order.filter((__, at) => at % FOLDS !== fold);
    return {
      asked,
      left: rowsOf(matrix, asked),
      learnt: rowsOf(matrix, learnt),
      right: rowsOf({ rows: matrix.rows, features: space.size, values: accurate }, learnt).values,
      weight: Float32Array.from(learnt, (row) => programs[row] ?? 0),
      stride: space.size,
    };
  });
}

function rowsOf({ features, values }: FeatureMatrix, rows: Int32Array): FeatureMatrix {
  const taken = new Float32Array(rows.length * features);
  for (const [at, row] of rows.entries()) taken.set(values.subarray(row * features, (row + 1) * features), at * features);
  return { rows: rows.length, features, values: taken };
}

/** The heads' outputs for every prompt, each fitted without the part that contains it: by prompt, then by head. */
function leftOut(folds: readonly Fold[], heads: Int32Array, penalty: number): Float32Array {
  const said = new Float32Array(folds.reduce((sum, { asked }) => sum + asked.length, 0) * heads.length);
  for (const { asked, left, learnt, right, weight, stride } of folds) {
    const logits = allLogits(fitHeads(learnt, { right, stride, weight, outcomes: heads }, penalty), left);
    for (const [at, row] of asked.entries()) said.set(logits.subarray(at * heads.length, (at + 1) * heads.length), row * heads.length);
  }
  return said;
}

/** Predicts which configurations of a workflow are as accurate as the largest models (Aragog, section 3.1); built from an artefact. */
export interface ConfigurationPredictor {
  readonly artefact: ConfigurationArtefact;
  readonly space: ConfigurationSpace;
  /**
   * One search per prompt, in lockstep rounds.
   *
   * @param headsAllowed called before every round for the maximum number of heads of a prompt in it; once it is 0, the verified ones count.
   * @throws RangeError for heads that read embeddings.
   */
  predict(facts: readonly RequestFacts[], headsAllowed?: () => number): readonly ConfigurationSearch[];
  /**
   * The same for embeddings of the artefact's encoder, concatenated.
   *
   * @throws RangeError for heads that read words, or where there is no whole number of embeddings.
   */
  predictOfEmbeddings(values: Float32Array, headsAllowed?: () => number): readonly ConfigurationSearch[];
}
