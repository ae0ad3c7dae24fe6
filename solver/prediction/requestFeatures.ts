import type { Sketch } from "@/solver/words/sketch";
import type { FeatureMatrix } from "./binnedFeatures";
import type { RequestFacts } from "./predictor";

/** Number of features before those of the text. */
export const REQUEST_COUNTS = 5;

/** How features are computed from facts. */
export interface FeatureReading {
  /** Natural logarithms of the usual output tokens of a request's stage, and of the rest of its program including that stage. */
  readonly requestOf: (facts: RequestFacts) => number;
  readonly remainingOf: (facts: RequestFacts) => number;
  readonly textOf: (sketch: Sketch | null) => Float32Array;
}

/**
 * The inputs of forests for requests: numbers of tokens of instructions, prompt and input (logarithms), the usual lengths of the stage and
 * of the rest of the program, and features of the prompt's text.
 */
export function requestFeatures(facts: readonly RequestFacts[], { requestOf, remainingOf, textOf }: FeatureReading): FeatureMatrix {
  const features = REQUEST_COUNTS + textOf(null).length;
  const values = new Float32Array(facts.length * features);
  for (const [row, of] of facts.entries()) {
    const from = row * features;
    values[from] = Math.log1p(of.instructionTokens);
    values[from + 1] = Math.log1p(of.promptTokens);
    values[from + 2] = Math.log1p(of.inputTokens);
    values[from + 3] = requestOf(of);
    values[from + 4] = remainingOf(of);
    values.set(textOf(of.sketch), from + REQUEST_COUNTS);
  }
  return { rows: facts.length, features, values };
}
