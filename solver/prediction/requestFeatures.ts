import type { FeatureMatrix } from "./binnedFeatures";
import type { RequestFacts, Sketch } from "./predictor";

/** Features before those of the text. */
export const REQUEST_COUNTS = 5;

/** How features are made of facts. */
export interface FeatureReading {
  /** Natural logarithms of the tokens that a request's stage usually writes, and that its program then has yet to write with it. */
  readonly requestOf: (facts: RequestFacts) => number;
  readonly remainingOf: (facts: RequestFacts) => number;
  readonly textOf: (sketch: Sketch | null) => Float32Array;
}

/**
 * What forests read of requests: how many tokens instructions, prompt and input have (logarithms), what the stage and what comes of it
 * usually write, and features of the prompt's text.
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
