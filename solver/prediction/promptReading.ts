import { sparseOf } from "@/solver/numeric/sparseMatrix";
import { truncatedSvd } from "@/solver/numeric/truncatedSvd";
import { learnWordSpace, type WordSpace } from "@/solver/words/wordSpace";
import type { FeatureMatrix } from "./binnedFeatures";
import type { Embeddings, EncoderIdentity } from "./confidence";
import type { RequestFacts } from "./predictor";
import { TEXT_COUNTS, textFeaturesOf, textSpaceOf } from "./textFeatures";

/** Number of features before those of the text: the logarithm of the prompt's tokens. */
export const READING_COUNTS = 1;

/** Number of directions of the space of words. */
const WORD_DIMENSIONS = 32;

/** Maximum number of components of a prompt: many features of an encoder are correlated. */
const MOST_COMPONENTS = 64;

/**
 * The shared input of one prompt's heads: its features, of words and counts or of an encoder's embedding, scaled to one deviation and
 * projected onto their principal components.
 */
export interface PromptReading {
  /** Space of the words that are read; null where an encoder's embedding is. */
  readonly words: WordSpace | null;
  /** The encoder whose embeddings are read, and their length; null where words are. */
  readonly encoder: (EncoderIdentity & { readonly dimensions: number }) | null;
  /** Means of the features over the training prompts: those of a usual prompt. */
  readonly usual: Float32Array;
  /** `directions[feature * components + k]`. */
  readonly directions: Float32Array;
  readonly components: number;
}

/** Learns the shared input of heads from their training prompts. */
export function learnReading(facts: readonly RequestFacts[], embeddings: Embeddings | undefined, seed: number): PromptReading {
  const { words, encoder, raw } = embeddings === undefined ? wordsRead(facts, seed) : embeddingsRead(embeddings);
  const { rows, features, values } = raw;
  const usual = new Float32Array(features);
  for (const [at, value] of values.entries()) usual[at % features] = (usual[at % features] ?? 0) + value / rows;
  const squares = new Float64Array(features);
  for (const [at, value] of values.entries())
    squares[at % features] = (squares[at % features] ?? 0) + (value - (usual[at % features] ?? 0)) ** 2;
  const scale = squares.map((square) => (square > 1e-9 * rows ? Math.sqrt(rows / square) : 0));
  const columns = Uint32Array.from({ length: features }, (_, at) => at);
  const scaled = sparseOf(
    features,
    Array.from({ length: rows }, (_, row) => ({
      columns,
      values: values.slice(row * features, (row + 1) * features).map((value, at) => (value - (usual[at] ?? 0)) * (scale[at] ?? 0)),
    })),
  );
  const { singularValues, right } = truncatedSvd(scaled, MOST_COMPONENTS, seed);
  const components = singularValues.length;
  const directions = Float32Array.from(right, (value, at) => value * (scale[Math.floor(at / components)] ?? 0));
  return { words, encoder, usual, directions, components };
}

/**
 * Reads the heads' inputs from prompts.
 *
 * @throws RangeError for a reading of embeddings: use `componentsOf` for these.
 */
export function readPrompts(reading: PromptReading): (facts: readonly RequestFacts[]) => FeatureMatrix {
  const { words, usual } = reading;
  if (words === null) throw new RangeError("These heads read an encoder's embeddings, not words");
  const textOf = textFeaturesOf({ words, usual: usual.subarray(READING_COUNTS) });
  return (facts) => componentsOf(reading, wordFeatures(facts, textOf));
}

/**
 * Raw features projected onto the components.
 *
 * @param values prompts concatenated, each with the reading's number of features.
 * @throws RangeError where `values` holds no whole number of prompts.
 */
export function componentsOf({ usual, directions, components }: PromptReading, values: Float32Array): FeatureMatrix {
  const features = usual.length;
  const rows = values.length / features;
  if (!Number.isInteger(rows)) throw new RangeError(`${values.length} numbers are no embeddings of ${features} each`);
  const turned = new Float32Array(rows * components);
  for (let row = 0; row < rows; row++) {
    for (let feature = 0; feature < features; feature++) {
      const value = (values[row * features + feature] ?? 0) - (usual[feature] ?? 0);
      const from = feature * components;
      for (let k = 0; k < components; k++)
        turned[row * components + k] = (turned[row * components + k] ?? 0) + value * (directions[from + k] ?? 0);
    }
  }
  return { rows, features: components, values: turned };
}

function wordsRead(facts: readonly RequestFacts[], seed: number) {
  const sketches = [...new Set(facts.flatMap(({ sketch }) => (sketch === null ? [] : [sketch])))];
  const words = learnWordSpace(sketches, { dimensions: WORD_DIMENSIONS, seed });
  const values = wordFeatures(facts, textFeaturesOf(textSpaceOf(words, sketches)));
  return { words, encoder: null, raw: { rows: facts.length, features: READING_COUNTS + TEXT_COUNTS + words.dimensions, values } };
}

function embeddingsRead({ encoder, dimensions, values }: Embeddings) {
  return { words: null, encoder: { ...encoder, dimensions }, raw: { rows: values.length / dimensions, features: dimensions, values } };
}

function wordFeatures(facts: readonly RequestFacts[], textOf: ReturnType<typeof textFeaturesOf>): Float32Array {
  const features = READING_COUNTS + textOf(null).length;
  const values = new Float32Array(facts.length * features);
  for (const [row, { promptTokens, sketch }] of facts.entries()) {
    values[row * features] = Math.log1p(promptTokens);
    values.set(textOf(sketch), row * features + READING_COUNTS);
  }
  return values;
}
