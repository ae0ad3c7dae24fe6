import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { useState } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { TRPCProvider } from "@/components/api/trpc";
import type { AppRouter } from "@/server/api/router";
import { useFreeWorkers } from "./useFreeWorkers";

/** Requests workers of one GPU, then of another size. */
function Asking({ then }: { readonly then: number }) {
  const [gpus, setGpus] = useState(1);
  const room = useFreeWorkers("lab", gpus);
  if (gpus !== then) setGpus(then);
  return JSON.stringify(room);
}

/** The final number of free workers, after the answers for one GPU and for two. */
function roomFor(then: number): object {
  const queries = new QueryClient();
  const answered = [7, 3].entries();
  for (const [at, workers] of answered) {
    const input = { clusterId: "lab", gpusPerWorker: at + 1 };
    queries.setQueryData([["batches", "room"], { input, type: "query" }], { ok: true, workers });
  }
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  const markup = renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <Asking then={then} />
      </TRPCProvider>
    </QueryClientProvider>,
  );
  return JSON.parse(markup.replaceAll("&quot;", '"')) as object;
}

it("stays as it was told last while it is asked anew, and says so", () => {
  expect(roomFor(1)).toEqual({ workers: 7, isEarlier: false });
  expect(roomFor(2)).toEqual({ workers: 3, isEarlier: false });
  expect(roomFor(4)).toEqual({ workers: 7, isEarlier: true });
});
