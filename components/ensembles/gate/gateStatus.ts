import { RefusedError } from "@/components/api/unwrapOutcome";
import type { PanelStatus } from "@/components/ui/PanelState";
import { type QueryLike, queryStatus } from "@/components/ui/queryStatus";

/**
 * A gate's state: one that the studio refuses needs other inputs, because a retry would not help. @param hindered why it is not requested;
 * null: it is.
 */
export function gateStatus(hindered: string | null, query: QueryLike): PanelStatus {
  const text = hindered ?? (query.error instanceof RefusedError ? query.error.message : null);
  return text === null ? queryStatus(query, { what: "Replaying the gate" }) : { kind: "empty", title: "Nothing to replay", text };
}
