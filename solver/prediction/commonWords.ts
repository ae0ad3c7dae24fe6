import type { Sketch } from "./predictor";
import { CLASS_BUCKETS, FIRST_PAIR_BUCKET } from "./sketch";
import type { WordSpace } from "./wordSpace";

/** Of the prompts that a space was learnt of: words that fewer had may be names. */
const COMMON_SHARE = 0.01;

/** Buckets of single words, numbers and signs that at least one in a hundred had of the prompts that a space was learnt of. */
export function commonWords({ buckets, idf }: WordSpace): ReadonlySet<number> {
  const mostIdf = 1 - Math.log(COMMON_SHARE);
  return new Set(buckets.filter((bucket, place) => bucket < FIRST_PAIR_BUCKET && (idf[place] ?? Number.POSITIVE_INFINITY) <= mostIdf));
}

/**
 * What may be kept of a sketch where nobody is to find out what the prompt said: how many words, numbers and signs it has, and how often the
 * given ones stand in it. Predictors that learnt of such sketches read no more of whole ones.
 */
export function commonPart({ buckets, counts }: Sketch, words: ReadonlySet<number>): Sketch {
  const isKept = (bucket: number): boolean => bucket < CLASS_BUCKETS || words.has(bucket);
  return { buckets: buckets.filter(isKept), counts: counts.filter((_, at) => isKept(buckets[at] ?? 0)) };
}
