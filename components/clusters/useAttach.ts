"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { takeOutcome } from "../api/takeOutcome";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";

/** Attaches a cluster and goes where it is seen at work. */
export function useAttach() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: async (request: Inputs["clusters"]["attach"]) => takeOutcome(await client.clusters.attach.mutate(request)),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      router.push(`/live?cluster=${encodeURIComponent(id)}`);
    },
  });
}
