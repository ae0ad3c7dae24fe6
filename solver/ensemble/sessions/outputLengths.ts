import { mean } from "@/solver/numeric/quantile";

/** Tokens of prompts and of one model's answers to them, in parallel arrays. */
export interface AnswerLengths {
  readonly inputTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
}

/** Length statistics for timing a model's sessions: the mean of its answers, and the expected longest of some answers. */
export interface OutputLengths {
  readonly meanTokens: number;
  /** Expected tokens of the longest of so many answers, drawn with replacement: rises with their number up to the maximum; 0 for none. */
  expectedLongest(answers: number): number;
}

/**
 * Probability that all of so many answers are shorter below which even shorter ones are ignored: with many answers only the longest lengths
 * count.
 */
const NEGLIGIBLE = 1e-9;

/**
 * Lengths of a model's answers. The probability that the longest of n is below a length is the share of answers below it, to the power of
 * n.
 *
 * @throws RangeError without any answer.
 */
export function outputLengths({ outputTokens }: Pick<AnswerLengths, "outputTokens">): OutputLengths {
  const rising = Float64Array.from(outputTokens).sort();
  const count = rising.length;
  if (count === 0) throw new RangeError("No answer to take lengths of");
  const most = rising[count - 1] ?? 0;
  return {
    meanTokens: mean(rising),
    expectedLongest(answers) {
      if (answers <= 0) return 0;
      let expected = most;
      for (let at = count - 1; at > 0; at--) {
        const below = (at / count) ** answers;
        if (below < NEGLIGIBLE) break;
        expected -= below * ((rising[at] ?? 0) - (rising[at - 1] ?? 0));
      }
      return expected;
    },
  };
}
