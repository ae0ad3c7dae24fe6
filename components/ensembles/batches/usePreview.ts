"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { useDebounced } from "@/components/ui/useDebounced";
import type { BatchPreview, BatchRequest } from "@/server/contracts/studio";

const STILL_MS = 400;

/**
 * A preview of a batch, requested once the request has not changed for a moment; a newer request cancels an older one. @param request null:
 * there is none yet.
 */
export function usePreview(request: BatchRequest | null): {
  readonly preview: BatchPreview | null;
  readonly error: { readonly message: string } | null;
  readonly working: boolean;
} {
  const trpc = useTRPC();
  const client = useTRPCClient();
  // The name does not affect the preview.
  const text = request === null ? "" : JSON.stringify({ ...request, name: "preview" });
  const still = useDebounced(text, STILL_MS);
  const asked = useMemo(() => (still === "" ? null : (JSON.parse(still) as BatchRequest)), [still]);
  const query = useQuery({
    queryKey: [...trpc.batches.preview.pathKey(), still],
    queryFn: async ({ signal }) => {
      if (asked === null) throw new Error("There is nothing to preview yet.");
      return unwrapOutcome(await client.batches.preview.query(asked, { signal })).preview;
    },
    enabled: asked !== null,
    // Free GPUs change over time.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const current = still === text;
  return {
    preview: current ? (query.data ?? null) : null,
    error: current ? query.error : null,
    working: request !== null && (!current || query.isFetching),
  };
}
