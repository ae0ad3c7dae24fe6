import { type SparseMatrix, sparseOf } from "@/solver/numeric/sparseMatrix";
import { truncatedSvd } from "@/solver/numeric/truncatedSvd";
import { CLASS_BUCKETS, SKETCH_BUCKETS, type Sketch } from "./sketch";

/**
 * Weights of words and their co-occurrence, learnt from many prompts: their inverse document frequencies (idf) and, if it has
 * dimensions, the directions that describe the prompts best.
 */
export interface WordSpace {
  /** The buckets in use, ascending: the commonest of those that several prompts have. */
  readonly buckets: Uint16Array;
  readonly idf: Float32Array;
  readonly dimensions: number;
  /** `directions[place of the bucket * dimensions + k]`. */
  readonly directions: Float32Array;
}

/** Maximum number of buckets: limits artefact size, and rare words teach nothing. */
const MOST_BUCKETS = 4096;

/** Minimum number of prompts with a bucket for its use. */
const FEWEST_PROMPTS = 2;

/** Maximum number of training prompts of a space, spread evenly over those given. */
const MOST_PROMPTS = 20_000;

/** Sizes of a space. */
export interface WordSpaceSize {
  /** At most so many directions; left out: none. */
  readonly dimensions?: number;
  /** Of the search for directions. */
  readonly seed?: number;
  /** At most so many buckets. */
  readonly mostBuckets?: number;
}

/** Learns a space from prompts. */
export function learnWordSpace(
  sketches: readonly Sketch[],
  { dimensions = 0, seed = 0, mostBuckets = MOST_BUCKETS }: WordSpaceSize = {},
): WordSpace {
  const step = Math.max(1, sketches.length / MOST_PROMPTS);
  const read = Array.from({ length: Math.min(sketches.length, MOST_PROMPTS) }, (_, at) => sketches[Math.floor(at * step)]).filter(
    (sketch) => sketch !== undefined,
  );
  const prompts = new Uint32Array(SKETCH_BUCKETS);
  for (const { buckets } of read) for (const bucket of buckets) prompts[bucket] = (prompts[bucket] ?? 0) + 1;
  const buckets = Uint16Array.from(
    Array.from(prompts.keys())
      .filter((bucket) => bucket >= CLASS_BUCKETS && (prompts[bucket] ?? 0) >= FEWEST_PROMPTS)
      .sort((a, b) => (prompts[b] ?? 0) - (prompts[a] ?? 0) || a - b)
      .slice(0, mostBuckets),
  ).sort();
  // As if one more prompt had every word, to avoid a division by zero.
  const idf = Float32Array.from(buckets, (bucket) => 1 + Math.log((1 + read.length) / (1 + (prompts[bucket] ?? 0))));
  const bare: WordSpace = { buckets, idf, dimensions: 0, directions: new Float32Array() };
  if (dimensions === 0) return bare;
  const { singularValues, right } = truncatedSvd(matrixOf(bare, read), dimensions, seed);
  return { ...bare, dimensions: singularValues.length, directions: Float32Array.from(right) };
}

/** Weighted words of a prompt: indices into the space's buckets, and their weights, together of length 1. */
export interface WordWeights {
  readonly places: Uint16Array;
  readonly weights: Float32Array;
}

/** The buckets that count, ascending, and their inverse document frequencies; parallel. */
export interface WordWeighing {
  readonly buckets: ArrayLike<number>;
  readonly idf: ArrayLike<number>;
}

/** TF-IDF of a prompt: 1 + log of the count, times idf, scaled to length 1. */
export function wordWeights({ buckets, idf }: WordWeighing, sketch: Sketch): WordWeights {
  const places = new Uint16Array(sketch.buckets.length);
  const weights = new Float32Array(sketch.buckets.length);
  let [found, square, place] = [0, 0, 0];
  // Both ascend.
  for (const [at, bucket] of sketch.buckets.entries()) {
    while ((buckets[place] ?? SKETCH_BUCKETS) < bucket) place += 1;
    if (buckets[place] !== bucket) continue;
    const weight = (1 + Math.log(sketch.counts[at] ?? 1)) * (idf[place] ?? 0);
    places[found] = place;
    weights[found] = weight;
    square += weight * weight;
    found += 1;
  }
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  return { places: places.subarray(0, found), weights: weights.subarray(0, found).map((weight) => weight * scale) };
}

/** A prompt's coordinates in the space's directions; all 0 without a known word. */
export function wordVector(space: WordSpace, sketch: Sketch): Float32Array {
  const vector = new Float32Array(space.dimensions);
  const { places, weights } = wordWeights(space, sketch);
  for (const [at, place] of places.entries()) {
    const weight = weights[at] ?? 0;
    const from = place * space.dimensions;
    for (let k = 0; k < space.dimensions; k++) vector[k] = (vector[k] ?? 0) + weight * (space.directions[from + k] ?? 0);
  }
  return vector;
}

function matrixOf(space: WordSpace, sketches: readonly Sketch[]): SparseMatrix {
  const rows = sketches.map((sketch) => wordWeights(space, sketch)).map(({ places, weights }) => ({ columns: places, values: weights }));
  return sparseOf(space.buckets.length, rows);
}
