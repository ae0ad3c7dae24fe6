"use client";

import type { ProfileJob } from "@/server/contracts/studio";
import { useClusters } from "../shell/useCurrentCluster";

/** Whether any of a job's models runs on emulated engines, as far as clusters are known yet. */
export function useIsEmulated({ request }: Pick<ProfileJob, "request">): boolean {
  const clusters = useClusters().data ?? [];
  return request.models.some(
    ({ at }) => at.kind === "cluster" && clusters.some(({ spec, emulated }) => emulated && spec.id === at.clusterId),
  );
}
