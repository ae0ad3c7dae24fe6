import { type Grace, gracePoints } from "../plan/grace";
import type { PolicyDocument } from "../plan/policySchema";
import { policyRefusal } from "./policyRefusal";

/** How long queues must have been short before thresholds return; default of the policy. */
const HOLD_SECONDS = 10;
/** Points by which a threshold falls each second; default of the policy. */
const POINTS_PER_SECOND = 1;
/** Queues are short at this share of the bound; default of the policy. */
const CALM_SHARE = 0.25;

/** Grace above a bound of waiting requests, with the default settings of the rest. */
export const graceAbove = (waiting: number): Grace => ({
  ...{ waiting, calm: Math.floor(CALM_SHARE * waiting), holdSeconds: HOLD_SECONDS, pointsPerSecond: POINTS_PER_SECOND },
});

/**
 * A policy with the same routes under usual load and this grace under overload; null: without any.
 *
 * @returns a sentence that says why there is none: nothing would change, or the policy has no threshold that may fall.
 */
export function changeGrace(
  grace: Grace | null,
  policy: PolicyDocument,
): { readonly policy: PolicyDocument } | { readonly refused: string } {
  if (policy.kind !== "cascade")
    return {
      refused: `Grace lowers thresholds of a cascade; this policy is of the kind ${policy.kind}, and its other controls stay as they are.`,
    };
  const { grace: before, ...rest } = policy;
  if (grace === null) return before === undefined ? { refused: "The plan has no grace: nothing would change." } : { policy: rest };
  if (before !== undefined && (Object.keys(grace) as (keyof Grace)[]).every((field) => grace[field] === before[field]))
    return { refused: "This is the plan's own grace: choose another bound." };
  const made: PolicyDocument = { ...rest, grace };
  const refused = policyRefusal(made);
  if (refused !== null) return { refused };
  return gracePoints(policy).some((points) => points > 0)
    ? { policy: made }
    : {
        refused:
          "No threshold of this plan may fall: each is at the lower end of its approved range, which keeps the quality floor. Plan with slack or a latency budget, whose quality exceeds the floor.",
      };
}
