import type { Confidence } from "./ensembleDocument";

/** The weight of an expert's vote. */
export interface VoteWeight {
  /** Weight of an expert before it has voted, and of one without a vote; the maximum of its votes' weights. */
  readonly most: (expert: string) => number;
  /** Weight of its vote in an answer with so many tokens. */
  readonly vote: (expert: string, outputTokens: number) => number;
}

/** Weights, confidences and taus that differ by less count as equal. */
export const TOLERANCE = 1e-9;

/** Whether a confidence reaches a gate's tau. */
export const reachesTau = (confidence: number, tau: number): boolean => confidence >= tau - TOLERANCE;

/** An expert that is right no more often than wrong has little weight, and no expert outweighs any number of others. */
const LEAST_ACCURACY = 0.51;
const MOST_ACCURACY = 0.99;

/**
 * Weights of votes under a confidence function (MOSAIC, section 4.2, equation 11, whose function may be replaced); all weights are above 0.
 * `plurality`: 1 each. `accuracy-weighted`: the log odds of an expert's accuracy, clamped to 0.51 to 0.99. `length-aware`: 1 up to the
 * expert's usual length, and beyond it that length divided by the answer's.
 */
export function voteWeight(confidence: Confidence): VoteWeight {
  const known = weighed.get(confidence);
  if (known !== undefined) return known;
  const made = weightOf(confidence);
  weighed.set(confidence, made);
  return made;
}

/** One gate decides on many thousands of questions, with the same function. */
const weighed = new WeakMap<Confidence, VoteWeight>();

function weightOf(confidence: Confidence): VoteWeight {
  switch (confidence.kind) {
    case "plurality":
      return { most: () => 1, vote: () => 1 };
    case "accuracy-weighted": {
      const weights = new Map(Object.entries(confidence.accuracy).map(([expert, accuracy]) => [expert, logOdds(accuracy)]));
      const weigh = (expert: string): number => weights.get(expert) ?? logOdds(LEAST_ACCURACY);
      return { most: weigh, vote: weigh };
    }
    case "length-aware": {
      const usual = new Map(Object.entries(confidence.meanTokens));
      return { most: () => 1, vote: (expert, tokens) => Math.min(1, (usual.get(expert) ?? tokens) / Math.max(1, tokens)) };
    }
  }
}

function logOdds(accuracy: number): number {
  const held = Math.min(MOST_ACCURACY, Math.max(LEAST_ACCURACY, accuracy));
  return Math.log(held / (1 - held));
}
