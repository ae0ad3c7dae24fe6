import { isRightLabel } from "../judging/agreement";
import { type Interval, isApart, pairedDifference } from "./contentIntervals";
import type { OutcomeTable } from "./workload";

/** Joint correctness of two models' answers to the same prompts. Shares of the prompts, 0..1, that sum to 1. */
export interface Agreement {
  readonly smaller: string;
  readonly larger: string;
  readonly bothRight: number;
  /** The maximum gain from escalating from the smaller model. */
  readonly onlyLarger: number;
  readonly onlySmaller: number;
  readonly neither: number;
  /** Points of quality by which the larger is better, prompt by prompt, at 90 %. */
  readonly difference: Interval;
  /** Whether that exceeds the sampling error of the number of prompts. */
  readonly apart: boolean;
}

/** Agreement of every pair of models of a ladder, neighbours first. */
export function modelAgreements({ promptIds, models }: Pick<OutcomeTable, "promptIds" | "models">): readonly Agreement[] {
  const pairs: Agreement[] = [];
  for (let step = 1; step < models.length; step += 1) {
    for (const [at, smaller] of models.slice(0, models.length - step).entries()) {
      const larger = models[at + step];
      if (larger === undefined) continue;
      let [bothRight, onlyLarger, onlySmaller] = [0, 0, 0];
      for (const [row, label] of smaller.label.entries()) {
        const [small, large] = [isRightLabel(label), isRightLabel(larger.label[row] ?? 0)];
        if (small && large) bothRight += 1;
        else if (large) onlyLarger += 1;
        else if (small) onlySmaller += 1;
      }
      const prompts = promptIds.length;
      const difference = pairedDifference(larger.label, smaller.label);
      if (difference === null) continue;
      pairs.push({
        smaller: smaller.model,
        larger: larger.model,
        bothRight: bothRight / prompts,
        onlyLarger: onlyLarger / prompts,
        onlySmaller: onlySmaller / prompts,
        neither: (prompts - bothRight - onlyLarger - onlySmaller) / prompts,
        difference,
        apart: isApart(difference),
      });
    }
  }
  return pairs;
}
