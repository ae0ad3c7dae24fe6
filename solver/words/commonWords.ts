import { CLASS_BUCKETS, FIRST_PAIR_BUCKET, type Sketch } from "./sketch";
import type { WordSpace } from "./wordSpace";

/** Minimum number of a space's training prompts with a word: rarer words may be names. */
const COMMON_SHARE = 0.01;

/** Buckets of single words, numbers and signs that at least one in a hundred of a space's training prompts has. */
export function commonWords({ buckets, idf }: WordSpace): ReadonlySet<number> {
  const mostIdf = 1 - Math.log(COMMON_SHARE);
  return new Set(buckets.filter((bucket, place) => bucket < FIRST_PAIR_BUCKET && (idf[place] ?? Number.POSITIVE_INFINITY) <= mostIdf));
}

/**
 * The part of a sketch that may be stored where the prompt must not be recoverable: its numbers of words, numbers and signs, and the counts
 * of the given buckets. Predictors trained on such sketches read no more from whole ones.
 */
export function commonPart({ buckets, counts }: Sketch, words: ReadonlySet<number>): Sketch {
  const isKept = (bucket: number): boolean => bucket < CLASS_BUCKETS || words.has(bucket);
  return { buckets: buckets.filter(isKept), counts: counts.filter((_, at) => isKept(buckets[at] ?? 0)) };
}
