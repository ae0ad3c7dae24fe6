"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { clusterCodec } from "../shell/clusterCodec";
import { useUrlView } from "../url/useUrlView";

/** Attaches a cluster and opens its live page. */
export function useAttach() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  const [, write] = useUrlView(clusterCodec);
  return useMutation({
    mutationFn: async (request: Inputs["clusters"]["attach"]) => unwrapOutcome(await client.clusters.attach.mutate(request)),
    onSuccess: async ({ id }) => {
      // Named before the list has it: otherwise the top bar would write the cluster into the address during the navigation and cancel it.
      write({ cluster: id }, "replace");
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      router.push(`/live?cluster=${encodeURIComponent(id)}`);
    },
  });
}
