import { type SparseMatrix, sparseOf } from "@/solver/numeric/sparseMatrix";
import { classCounts } from "@/solver/words/sketch";
import { type WordSpace, wordWeights } from "@/solver/words/wordSpace";
import type { RequestFacts } from "./predictor";

/** The inputs of heads in addition to a prompt's words: logarithms of its tokens, and of its words, numbers, signs and distinct ones. */
export const PROMPT_COUNTS = 5;

/**
 * Words of every prompt by their TF-IDF, and after them the counts, minus `usual`. A prompt whose text is not available counts as usual in
 * all, except where no training prompt of the words had a text: then only its tokens are known.
 */
export function promptFeatures(facts: readonly RequestFacts[], words: WordSpace, usual: ArrayLike<number>): SparseMatrix {
  const first = words.buckets.length;
  const rows = facts.map(({ promptTokens, sketch }) => {
    const tokens = Math.log1p(promptTokens) - (usual[first] ?? 0);
    if (sketch === null) return first === 0 ? { columns: [0], values: [tokens] } : usualWords(first, usual);
    const { places, weights } = wordWeights(words, sketch);
    const counts = [...classCounts(sketch), sketch.buckets.length].map((count, at) => Math.log1p(count) - (usual[first + 1 + at] ?? 0));
    return { columns: [...places, ...[tokens, ...counts].map((_, at) => first + at)], values: [...weights, tokens, ...counts] };
  });
  return sparseOf(first + PROMPT_COUNTS, rows);
}

function usualWords(words: number, usual: ArrayLike<number>) {
  const columns = Array.from({ length: words }, (_, at) => at);
  return { columns, values: columns.map((column) => usual[column] ?? 0) };
}

/** Means of words and counts over the prompts with available text, that of the tokens over all; 0 where there are none. */
export function usualPrompt(facts: readonly RequestFacts[], words: WordSpace): Float32Array {
  const withText = facts.filter(({ sketch }) => sketch !== null);
  const { columns, column, value } = promptFeatures(withText, words, []);
  const usual = new Float32Array(columns);
  for (const [entry, at] of column.entries()) usual[at] = (usual[at] ?? 0) + (value[entry] ?? 0) / withText.length;
  usual[words.buckets.length] = facts.reduce((sum, { promptTokens }) => sum + Math.log1p(promptTokens), 0) / facts.length;
  return usual;
}
