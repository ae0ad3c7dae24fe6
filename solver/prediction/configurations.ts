import { mixSeed } from "@/solver/numeric/random";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { configurationMargins } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationSpace } from "@/solver/workflow/configurationSpace";
import { workflowShape } from "@/solver/workflow/workflowShape";
import { acceptanceThreshold } from "./acceptance";
import type { FeatureMatrix } from "./binnedFeatures";
import { searchChains, searchContext } from "./chainSearch";
import type { ConfigurationRows } from "./configurationRows";
import { allLogits, type HeadBank, verdicts } from "./headBank";
import { chooseLinear, chooseNetwork, FOLDS } from "./headChoice";
import { hiddenUnits, type SharedLayer } from "./headNetwork";
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
  /** Hidden layer on the reading; left out: heads read that itself. */
  readonly layer?: SharedLayer | undefined;
  /** One for every configuration except the last, that of the largest models. */
  readonly heads: HeadBank;
  /** Probability from which on a head accepts; at 1 none does. */
  readonly threshold: number;
}

/** Logistic heads on the reading, or on a hidden layer on it that they share. */
type HeadKind = "linear" | "network";

const chooses = { linear: chooseLinear, network: chooseNetwork } as const;

/**
 * Trains a head for every configuration except that of the largest models, on features of the prompt that all of them share (Aragog,
 * section 3.1). What a fit needs to know beforehand and the threshold are selected by threefold cross-validation: by the heads' outputs for
 * a third of the prompts that they were not fitted to. The same rows and seed give the same artefact.
 *
 * @param kinds kinds of heads tried, of which the one with the least loss on left-out prompts is kept; left out: linear ones on words, both
 * on embeddings.
 * @throws RangeError without prompts of known quality for the selection, or where the workflow has a single configuration.
 */
export function trainConfigurations(
  rows: ConfigurationRows,
  { seed, kinds }: { readonly seed: number; readonly kinds?: readonly HeadKind[] },
): ConfigurationArtefact {
  const { workflow, space, facts, embeddings } = rows;
  if (space.size < 2) throw new RangeError(`${workflow.name} has one configuration: there is nothing to choose`);
  if (!rows.programs.some((count) => count > 0)) throw new RangeError(`No program of ${workflow.name} of which is known how good it is`);
  if (facts.length < 2 * FOLDS) throw new RangeError(`No heads can be learnt of ${facts.length} prompts: at least ${2 * FOLDS} are needed`);
  const reading = learnReading(facts, embeddings, mixSeed(seed, "reading"));
  const matrix = headFeatures({ reading }, rows);
  const heads = Int32Array.from({ length: space.size - 1 }, (_, head) => head);
  const tried = kinds ?? (embeddings === undefined ? ["linear"] : ["linear", "network"]);
  const chosen = tried
    .map((kind) => chooses[kind]({ ...rows, matrix, size: space.size, heads, seed }))
    .reduce((best, other) => (other.loss < best.loss ? other : best));
  return {
    kind: "configurations",
    models: space.models,
    workflow: workflowShape(workflow),
    reading,
    ...(chosen.layer === null ? {} : { layer: chosen.layer }),
    heads: chosen.heads,
    threshold: acceptanceThreshold(chosen.leftOut, { ...rows, size: space.size, cheapestFirst: cheapestFirst(space) }),
  };
}

/** The predictor of a trained artefact. */
export function configurationPredictor(artefact: ConfigurationArtefact): ConfigurationPredictor {
  const { workflow, models, reading, layer, heads, threshold } = artefact;
  const space = configurationSpace(workflow, models);
  const ground = searchContext(space.options.map(({ length }) => length));
  const least = Math.log(threshold / (1 - threshold));
  const search = (read: FeatureMatrix, { headsAllowed, withMargins = false }: SearchOptions = {}) => {
    const matrix = layer === undefined ? read : hiddenUnits(layer, read);
    const found = searchChains(
      ground,
      matrix.rows,
      ({ prompt, configuration }) => verdicts(heads, matrix, { row: prompt, head: configuration }, least),
      headsAllowed,
    );
    if (!withMargins) return found;
    const logits = allLogits(heads, matrix);
    const each = space.size - 1;
    return found.map((own, row) => ({ ...own, margins: configurationMargins(logits.subarray(row * each, (row + 1) * each), least) }));
  };
  const read = reading.words === null ? null : readPrompts(reading);
  return {
    artefact,
    space,
    predict(facts: readonly RequestFacts[], options) {
      if (read === null) throw new RangeError("These heads read an encoder's embeddings, not words");
      return search(read(facts), options);
    },
    predictOfEmbeddings(values, options) {
      if (read !== null) throw new RangeError("These heads read words, not an encoder's embeddings");
      return search(componentsOf(reading, values), options);
    },
  };
}

/**
 * What an artefact's heads read of prompts.
 *
 * @throws RangeError for prompts without embeddings where it reads these.
 */
export function headFeatures(
  { reading, layer }: Pick<ConfigurationArtefact, "reading" | "layer">,
  { facts, embeddings }: Pick<ConfigurationRows, "facts" | "embeddings">,
): FeatureMatrix {
  const matrix = embeddings === undefined ? readPrompts(reading)(facts) : componentsOf(reading, embeddings.values);
  return layer === undefined ? matrix : hiddenUnits(layer, matrix);
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

/** How prompts are searched. */
export interface SearchOptions {
  /** Called before every round for the maximum number of heads of a prompt in it; once it is 0, the verified ones count. */
  readonly headsAllowed?: () => number;
  /** Whether all heads say how far their configurations are from being accepted. */
  readonly withMargins?: boolean;
}

/** Predicts which configurations of a workflow are as accurate as the largest models (Aragog, section 3.1); built from an artefact. */
export interface ConfigurationPredictor {
  readonly artefact: ConfigurationArtefact;
  readonly space: ConfigurationSpace;
  /**
   * One search per prompt, in lockstep rounds.
   *
   * @throws RangeError for heads that read embeddings.
   */
  predict(facts: readonly RequestFacts[], options?: SearchOptions): readonly ConfigurationSearch[];
  /**
   * The same for embeddings of the artefact's encoder, concatenated.
   *
   * @throws RangeError for heads that read words, or where there is no whole number of embeddings.
   */
  predictOfEmbeddings(values: Float32Array, options?: SearchOptions): readonly ConfigurationSearch[];
}
