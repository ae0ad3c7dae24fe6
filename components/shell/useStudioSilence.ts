"use client";

import { studioSilence } from "./studioSilence";
import { useClusters } from "./useCurrentCluster";

/** Since when the studio has not answered, in Unix milliseconds; null while it does. Every page asks for the clusters all the time. */
export function useStudioSilence(): number | null {
  const { error, failureReason, dataUpdatedAt } = useClusters();
  return studioSilence({ error, failureReason, dataUpdatedAt });
}
