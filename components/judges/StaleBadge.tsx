import type { ClusterJudge } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";

/** Says that the measurement is old, or missing. */
export function StaleBadge({ known: { stale, planned } }: { readonly known: Pick<ClusterJudge, "stale" | "planned"> }) {
  if (stale) return <Badge tone="warn">stale: measure again</Badge>;
  return planned.source.kind === "assumed" ? <Badge tone="hatched">assumed</Badge> : null;
}
