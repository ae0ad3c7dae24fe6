import type { RoutingFrame } from "@/server/contracts/studio";
import { shortHash } from "../ui/format";

/** What a roll back of the routing goes back to, or why there is none. */
export function prepareRollBack(
  previous: RoutingFrame["previous"],
  applying: boolean,
): {
  readonly button: string;
  /** Why it cannot be asked for now; null: it can. */
  readonly hindered: string | null;
  readonly goesTo: string;
} {
  const button = previous === undefined || previous === null ? "Roll back routing" : `Roll back routing to ${shortHash(previous.planId)}`;
  const goesTo =
    previous === undefined || previous === null
      ? "the plan that was in force before this one"
      : `plan ${shortHash(previous.planId)} with policy ${shortHash(previous.policyHash)} (${previous.name})`;
  if (applying) return { button, hindered: "A plan is being applied: wait for its end, or abort it.", goesTo };
  return { button, hindered: previous === null ? "No other plan was in force before this one." : null, goesTo };
}
