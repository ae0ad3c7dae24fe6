import type { ScorerWords } from "@/solver/gates/gateDocument";
import { type SparseMatrix, sparseOf } from "@/solver/numeric/sparseMatrix";
import type { Sketch } from "@/solver/words/sketch";
import { learnWordSpace, type WordSpace, type WordWeights, wordWeights } from "@/solver/words/wordSpace";

/** The words of one text of each answer, as columns of a matrix. */
export interface TextColumns {
  readonly space: WordSpace;
  /** By answer. */
  readonly weighed: readonly WordWeights[];
}

/** Digits of the numbers of a document: with them its size is bounded, and scores differ by less than a hundredth. */
const DIGITS = 5;

/** The commonest words and pairs of words of texts, and the TF-IDF that each text has of them. */
export function textColumns(sketches: readonly Sketch[], mostBuckets: number): TextColumns {
  const space = learnWordSpace(sketches, { mostBuckets });
  return { space, weighed: sketches.map((sketch) => wordWeights(space, sketch)) };
}

/**
 * The matrix of answers with their facts in the first columns, and the words of each of some texts in the next ones.
 *
 * @param facts by answer; all of one length.
 * @param scale what TF-IDF is multiplied by.
 */
export function scorerMatrix(facts: readonly (readonly number[])[], texts: readonly TextColumns[], scale: number): SparseMatrix {
  const first = facts[0]?.length ?? 0;
  const width = texts.reduce((sum, { space }) => sum + space.buckets.length, first);
  const rows = facts.map((own, row) => {
    const columns = [...own.keys()];
    const values = [...own];
    let from = first;
    for (const { space, weighed } of texts) {
      for (const [at, place] of (weighed[row]?.places ?? []).entries()) {
        columns.push(from + place);
        values.push(scale * (weighed[row]?.weights[at] ?? 0));
      }
      from += space.buckets.length;
    }
    return { columns, values };
  });
  return sparseOf(width, rows);
}

/** Words of a text as a document has them. @param weights of their columns, the scale included. */
export const weighedWords = ({ buckets, idf }: WordSpace, weights: ArrayLike<number>): ScorerWords["prompt"] => ({
  buckets: [...buckets],
  idf: Array.from(idf, rounded),
  weights: Array.from(weights, rounded),
});

const rounded = (value: number): number => Number(value.toPrecision(DIGITS));
