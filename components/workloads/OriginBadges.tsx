import type { WorkloadSummary } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";

/** Marks a workload whose figures come from no real model: generated, or answered by emulated engines. */
export function OriginBadges({ workload }: { readonly workload: Pick<WorkloadSummary, "generated" | "measured"> }) {
  return (
    <>
      {workload.generated && <Badge tone="hatched">generated</Badge>}
      {workload.measured?.emulated && (
        <Badge tone="hatched" title="Answers come from emulated engines: quality and lengths do not apply to real models.">
          emulated
        </Badge>
      )}
    </>
  );
}
