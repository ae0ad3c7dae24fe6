import type { AuditLine, Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";

/**
 * The outcome of a person's request; a refusal becomes a line of the audit, with its reason.
 *
 * @param attempt who tried what on which object
 */
export function auditedRefusal<Result extends Outcome<object>>(
  { audit }: Pick<Store, "audit">,
  attempt: Omit<AuditLine, "at" | "detail" | "outcome" | "times">,
  outcome: Result,
): Result {
  if (!outcome.ok) audit.refused({ ...attempt, detail: outcome.message });
  return outcome;
}
