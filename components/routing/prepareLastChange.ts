import type { MeasuredChange } from "@/server/contracts/studio";
import { controlChangeText } from "@/solver/policies/policyControls";
import { type PromiseRow, promiseRows } from "../proposals/preparePromises";
import { formatClock, formatCounted, formatSeconds } from "../ui/format";
import type { KnobTurn } from "./prepareKnobs";

export interface LastChangeView {
  /** `Changed 14:02:10 by ana: slack 0 → 20 % (thresholds 84, 56 → 90, 61)`. */
  readonly says: string;
  /** The operator's; empty where none was given. */
  readonly reason: string;
  readonly rows: readonly PromiseRow[];
  /** What the measurements are based on. */
  readonly window: string;
  /** Why nothing is compared; null if it is. */
  readonly note: string | null;
  /** The request that sets the values before the change; null where the change is not in force any more. */
  readonly back: KnobTurn | null;
  readonly backText: string;
}

/**
 * The last change of controls with its forecast and what is measured since.
 * @param policyHash of the policy in force.
 */
export function prepareLastChange(
  { change, requests, windowSeconds, figures, notComparable }: MeasuredChange,
  policyHash: string,
): LastChangeView {
  const { at, actor, reason, from, to, hashAfter } = change;
  const { thresholds, tau, deltaScore } = from;
  const values = {
    ...(thresholds === undefined ? {} : { thresholds: [...thresholds] }),
    ...(tau === undefined ? {} : { tau }),
    ...(deltaScore === undefined ? {} : { deltaScore }),
  };
  return {
    says: `Changed ${formatClock(at)} by ${actor}: ${controlChangeText(from, to)}`,
    reason,
    rows: promiseRows({ promises: figures }),
    window:
      requests === 0
        ? "Nothing is measured since the change."
        : `${formatCounted(requests, "answered request")} in ${formatSeconds(windowSeconds)} since the change.`,
    note: notComparable,
    back: hashAfter === policyHash ? values : null,
    backText: controlChangeText(to, from),
  };
}
