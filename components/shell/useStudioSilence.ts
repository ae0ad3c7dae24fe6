"use client";

import { isUnanswered } from "../api/isUnanswered";
import { useClusters } from "./useCurrentCluster";

/** The fields of a polled query that show whether the studio answers. */
interface Pulse {
  readonly error: unknown;
  /** Why the current attempt has failed so far. */
  readonly failureReason: unknown;
  /** Unix milliseconds of the last answer with data; 0 when there was none. */
  readonly dataUpdatedAt: number;
}

/** Since when the studio has not answered, in Unix milliseconds; null while it answers or before its first answer. */
export function studioSilence({ error, failureReason, dataUpdatedAt }: Pulse): number | null {
  if (dataUpdatedAt === 0) return null;
  // A new attempt clears the reason of the previous failure; the error stays until an answer arrives.
  return isUnanswered(failureReason ?? error) ? dataUpdatedAt : null;
}

/** Since when the studio has not answered, in Unix milliseconds; null while it does. Every page polls the clusters. */
export function useStudioSilence(): number | null {
  const { error, failureReason, dataUpdatedAt } = useClusters();
  return studioSilence({ error, failureReason, dataUpdatedAt });
}
