import { mixSeed } from "@/solver/numeric/random";
import { type SparseMatrix, sparseOf, takeRows } from "@/solver/numeric/sparseMatrix";
import { learnWordSpace, type WordSpace } from "@/solver/words/wordSpace";
import { headLogits, sigmoid } from "./logistic";
import { penalisedHead } from "./penalisedHead";
import type { ConfidencePredictor, RequestFacts } from "./predictor";
import { PROMPT_COUNTS, promptFeatures, usualPrompt } from "./promptFeatures";

/** Prompts with known quality of each model's answers. */
export interface ConfidenceRows {
  readonly models: readonly string[];
  readonly facts: readonly RequestFacts[];
  /** By model, parallel to the facts: 0 wrong to 1 right; NaN where unknown. */
  readonly right: readonly Float32Array[];
  /** An encoder's embeddings of the prompts, read instead of their words. */
  readonly embeddings?: Embeddings;
}

/** A text encoder, distinguished from others of the same name. */
export interface EncoderIdentity {
  readonly name: string;
  /** Hash over its files, in hexadecimal digits: heads fit the embeddings of these only. */
  readonly sha256: string;
}

/** Vectors of prompts, concatenated. */
export interface Embeddings {
  readonly encoder: EncoderIdentity;
  readonly dimensions: number;
  readonly values: Float32Array;
}

/** The vectors of some prompts, by their positions. */
export function embeddingsAt({ encoder, dimensions, values }: Embeddings, rows: Int32Array): Embeddings {
  const own = new Float32Array(rows.length * dimensions);
  for (const [at, row] of rows.entries()) own.set(values.subarray(row * dimensions, (row + 1) * dimensions), at * dimensions);
  return { encoder, dimensions, values: own };
}

/** Trained confidence heads, as they are stored. */
export interface ConfidenceArtefact {
  readonly kind: "confidence";
  readonly models: readonly string[];
  /** The heads' input: words of the prompt and counts, or an encoder's embedding alone. */
  readonly features: "words" | "embedding";
  /** The encoder whose embeddings the heads read, and their length; null where they read words. */
  readonly encoder: (EncoderIdentity & { readonly dimensions: number }) | null;
  /** Null where the heads read embeddings. */
  readonly words: WordSpace | null;
  /** Means of the heads' inputs, over the prompts they were trained on. */
  readonly usual: Float32Array;
  /** The head of each model: weights of words and counts, or of an embedding. */
  readonly heads: readonly { readonly bias: number; readonly weights: Float32Array }[];
}

/**
 * Trains one head per model: logistic regression with L2 on hashed TF-IDF of 1-2-grams and counts, or on an encoder's embedding (Chimera,
 * section 3.3: independent sigmoids, binary cross-entropy). The same rows and seed give the same artefact.
 *
 * @throws RangeError where a model has no prompt with a known outcome.
 */
export function trainConfidence(rows: ConfidenceRows, { seed }: { readonly seed: number }): ConfidenceArtefact {
  const { models, facts, right, embeddings } = rows;
  const learnt = embeddings === undefined ? wordsLearnt(facts) : embeddingsLearnt(embeddings);
  const { scaled, scales } = scaledColumns(learnt.matrix, learnt.from);
  const heads = models.map((model, index) => {
    const labels = right[index] ?? new Float32Array();
    const known = Array.from(facts.keys()).filter((row) => !Number.isNaN(labels[row] ?? Number.NaN));
    if (known.length === 0) throw new RangeError(`No prompt of which is known how well ${model} answers it`);
    const { bias, weights } = penalisedHead(
      takeRows(scaled, known),
      Float32Array.from(known, (row) => labels[row] ?? 0),
      mixSeed(seed, model),
    );
    return { bias, weights: Float32Array.from(weights, (weight, column) => weight * (scales[column] ?? 1)) };
  });
  const { features, encoder, words, usual } = learnt;
  return { kind: "confidence", models, features, encoder, words, usual, heads };
}

/**
 * The predictor of trained heads.
 *
 * @throws RangeError for heads that read embeddings: use `confidenceOfEmbeddings` for these.
 */
export function confidencePredictor(artefact: ConfidenceArtefact): ConfidencePredictor {
  const { models, words, usual } = artefact;
  if (words === null) throw new RangeError("These confidence heads read an encoder's embeddings, not words");
  return { models, predict: (facts) => chances(artefact, promptFeatures(facts, words, usual)) };
}

/**
 * Confidence from heads that read embeddings.
 *
 * @param values embeddings of the artefact's encoder, concatenated.
 * @returns by prompt, then by model: 0..1.
 * @throws RangeError where the heads read words, or `values` holds no whole number of embeddings.
 */
export function confidenceOfEmbeddings(artefact: ConfidenceArtefact, values: Float32Array): Float32Array {
  const { encoder, usual } = artefact;
  if (encoder === null) throw new RangeError("These confidence heads read words, not an encoder's embeddings");
  if (values.length % encoder.dimensions !== 0) {
    throw new RangeError(`${values.length} numbers are no embeddings of ${encoder.dimensions} each`);
  }
  return chances(artefact, embeddingFeatures(values, encoder.dimensions, usual));
}

/**
 * Confidence of rows from heads of either kind.
 *
 * @returns by row, then by the artefact's models: 0..1.
 * @throws RangeError where the heads read embeddings and the rows have none, or the reverse.
 */
export function scoreRows(artefact: ConfidenceArtefact, { facts, embeddings }: Pick<ConfidenceRows, "facts" | "embeddings">): Float32Array {
  return embeddings === undefined ? confidencePredictor(artefact).predict(facts) : confidenceOfEmbeddings(artefact, embeddings.values);
}

/** The training input of heads, and the data needed to read the same from other prompts. */
interface Learnt extends Pick<ConfidenceArtefact, "features" | "encoder" | "words" | "usual"> {
  readonly matrix: SparseMatrix;
  /** First column that is scaled to one deviation. */
  readonly from: number;
}

function wordsLearnt(facts: readonly RequestFacts[]): Learnt {
  const words = learnWordSpace(facts.flatMap(({ sketch }) => (sketch === null ? [] : [sketch])));
  const usual = usualPrompt(facts, words);
  const matrix = promptFeatures(facts, words, usual);
  return { features: "words", encoder: null, words, usual, matrix, from: matrix.columns - PROMPT_COUNTS };
}

function embeddingsLearnt({ encoder, dimensions, values }: Embeddings): Learnt {
  const usual = new Float32Array(dimensions);
  const prompts = values.length / dimensions;
  for (const [at, value] of values.entries()) usual[at % dimensions] = (usual[at % dimensions] ?? 0) + value / prompts;
  const matrix = embeddingFeatures(values, dimensions, usual);
  return { features: "embedding", encoder: { ...encoder, dimensions }, words: null, usual, matrix, from: 0 };
}

function embeddingFeatures(values: Float32Array, dimensions: number, usual: Float32Array): SparseMatrix {
  const columns = Uint32Array.from({ length: dimensions }, (_, at) => at);
  const rows = Array.from({ length: values.length / dimensions }, (_, row) => ({
    columns,
    values: values.slice(row * dimensions, (row + 1) * dimensions).map((value, at) => value - (usual[at] ?? 0)),
  }));
  return sparseOf(dimensions, rows);
}

/** Scales columns, whose mean is 0, to a deviation of 1, so that a penalty means the same for all of them. */
function scaledColumns(matrix: SparseMatrix, from: number): { readonly scaled: SparseMatrix; readonly scales: Float64Array } {
  const squares = new Float64Array(matrix.columns);
  for (const [entry, column] of matrix.column.entries()) squares[column] = (squares[column] ?? 0) + (matrix.value[entry] ?? 0) ** 2;
  const scales = squares.map((square, column) => (column < from ? 1 : square > 0 ? Math.sqrt(matrix.rows / square) : 0));
  return { scaled: { ...matrix, value: matrix.value.map((value, entry) => value * (scales[matrix.column[entry] ?? 0] ?? 1)) }, scales };
}

function chances({ heads }: ConfidenceArtefact, matrix: SparseMatrix): Float32Array {
  const all = new Float32Array(matrix.rows * heads.length);
  for (const [head, { bias, weights }] of heads.entries()) {
    for (const [row, logit] of headLogits(matrix, { bias, weights }).entries()) all[row * heads.length + head] = sigmoid(logit);
  }
  return all;
}
