import type { WaitingWork } from "../core/policy";
import type { Order, Preference } from "../core/policyParts";

type Aging = Pick<Preference, "agingThreshold">;

/**
 * Tokens that this request is expected to write. Where nothing predicts them its input tokens stand in: a poor guess (the source found
 * it no better than first come, first served), but one at hand for every request.
 */
const requestTokens = (work: WaitingWork): number => work.predictedTokens ?? work.inputTokens;

/** Tokens of the work and of all that comes after it in its program; without a prediction of those, of this request alone. */
export const remainingTokens = (work: WaitingWork): number => work.predictedProgramTokens ?? requestTokens(work);

/** Shortest job first: by the predicted output of the request alone. */
export function sjfOrder({ agingThreshold }: Aging): Order {
  return { kind: "sjf", needs: ["lengths"], preference: { key: requestTokens, agingThreshold } };
}

/**
 * Shortest total job first (Chimera, section 3.4): by what the request and all that comes after it in its program have yet to write. Along a
 * chain that is all that the program has; of requests side by side each counts its own and what comes after, not the others.
 */
export function stjfOrder({ agingThreshold }: Aging): Order {
  return { kind: "stjf", needs: ["lengths", "identifiers"], preference: { key: remainingTokens, agingThreshold } };
}
