"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useState } from "react";
import type { RealSetup } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";

/** The set-up of real models as it goes; null until it is known. Lists that it changes are read again when it ends. */
export function useRealSetup(): RealSetup | null {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [setup, setSetup] = useState<RealSetup | null>(null);
  useSubscription(
    trpc.realSetup.follow.subscriptionOptions(undefined, {
      onData(next) {
        if (next.state !== setup?.state || next.clusterId !== setup.clusterId)
          for (const room of [trpc.clusters, trpc.workloads, trpc.calibrations]) void queries.invalidateQueries(room.pathFilter());
        setSetup(next);
      },
    }),
  );
  return setup;
}
