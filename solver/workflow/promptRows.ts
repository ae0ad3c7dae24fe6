import type { Random } from "@/solver/numeric/random";

/** Rows of an outcome table for programs and their stages. */
export interface PromptRows {
  /** The row of a program's own prompt. */
  readonly own: () => number;
  /** The row of one stage of a program. @param isAlone whether the program has no other stage: it then always has the program's own row. */
  readonly ofStage: (own: number, isAlone: boolean) => number;
}

/**
 * Draws rows with replacement. A stage uses its program's row with probability sqrt(correlation), else that of another prompt, so that lengths
 * and labels of two stages of a program correlate by `correlation`.
 *
 * @param prompts rows of the table that may be drawn.
 * @param correlation 0..1.
 * @throws RangeError without prompts, or with a correlation outside 0..1.
 */
export function promptRows(
  { prompts, correlation }: { readonly prompts: Int32Array; readonly correlation: number },
  random: Random,
): PromptRows {
  if (prompts.length === 0) throw new RangeError("Programs need at least one prompt to be drawn from, found none");
  if (!(correlation >= 0 && correlation <= 1)) throw new RangeError(`The correlation of stages lies in 0..1, found ${correlation}`);
  const own = (): number => prompts[random.int(prompts.length)] ?? 0;
  const ownShare = Math.sqrt(correlation);
  return {
    own,
    ofStage(ownRow, isAlone) {
      const isOwn = random.next() < ownShare || isAlone;
      const other = own();
      return isOwn ? ownRow : other;
    },
  };
}
