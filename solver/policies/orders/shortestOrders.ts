import type { WaitingWork } from "../core/policy";
import type { Order, Preference } from "../core/policyParts";

type Aging = Pick<Preference, "agingThreshold">;

/**
 * Predicted output tokens of this request. Where nothing predicts them its input tokens are used instead: a poor guess (the source found
 * it no better than first come, first served), but one that every request has.
 */
const requestTokens = (work: WaitingWork): number => work.predictedTokens ?? work.inputTokens;

/** Tokens of the work and of everything after it in its program; without a prediction of those, of this request alone. */
export const remainingTokens = (work: WaitingWork): number => work.predictedProgramTokens ?? requestTokens(work);

/** Shortest job first: by the predicted output of the request alone. */
export function sjfOrder({ agingThreshold }: Aging): Order {
  return { kind: "sjf", needs: ["lengths"], preference: { key: requestTokens, agingThreshold } };
}

/**
 * Shortest total job first (Chimera, section 3.4): by the tokens that the request and everything after it in its program have yet to write.
 * In a chain that is all that is left of the program; of parallel requests each counts its own and those after it, not the others.
 */
export function stjfOrder({ agingThreshold }: Aging): Order {
  return { kind: "stjf", needs: ["lengths", "identifiers"], preference: { key: remainingTokens, agingThreshold } };
}
