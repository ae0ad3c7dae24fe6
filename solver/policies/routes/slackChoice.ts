/** A model as input of slack dispatch. */
export interface Candidate {
  /** Seconds until a request that arrives now would be answered; Infinity where no replica takes work. */
  readonly load: number;
  /** Confidence that the model solves the request, 0..1. */
  readonly confidence: number;
}

export interface Slack {
  readonly tau: number;
  readonly deltaScore: number;
  readonly floorSeconds: number;
}

/**
 * Lines 12 to 22 of algorithm 1 (Chimera): among the models by falling confidence the first whose load is within (1 + tau) of the least,
 * or of the floor where that is more, and whose confidence exceeds that of the least loaded by `deltaScore`; if there is none, the least
 * loaded. Among equal loads the one with the higher confidence is the least loaded, among full ties the first. Returns its index, -1 for no
 * candidates.
 */
export function slackChoice(candidates: readonly Candidate[], slack: Slack): number {
  const order = Array.from(candidates.keys()).sort((a, b) => (candidates[b]?.confidence ?? 0) - (candidates[a]?.confidence ?? 0));
  const fast = order.reduce((best, index) => (loadOf(candidates[index]) < loadOf(candidates[best]) ? index : best), order[0] ?? -1);
  const mostLoad = mostLoadWithin(loadOf(candidates[fast]), slack);
  const leastConfidence = (candidates[fast]?.confidence ?? 0) + slack.deltaScore;
  const sure = order.find((index) => loadOf(candidates[index]) <= mostLoad && (candidates[index]?.confidence ?? 0) >= leastConfidence);
  return sure ?? fast;
}

/** The highest load within the slack, where the least loaded model has `leastLoad`. */
export const mostLoadWithin = (leastLoad: number, { tau, floorSeconds }: Omit<Slack, "deltaScore">): number =>
  (1 + tau) * Math.max(leastLoad, floorSeconds);

const loadOf = (candidate: Candidate | undefined): number => candidate?.load ?? Number.POSITIVE_INFINITY;
