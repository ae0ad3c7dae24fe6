import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { TRPCProvider } from "@/components/api/trpc";
import type { AppRouter } from "@/server/api/router";
import { testEnsemble } from "../testing/testGate";
import { useEnsembleInView } from "./useEnsembleInView";

function Shown({ named }: { readonly named: string }) {
  return useEnsembleInView(named, () => {}).status.kind;
}

/**
 * The view of a name that the list lacks, while the list is being reread. @param readMs how long ago it was read; negative: after the
 * request.
 */
function shown(readMs: number): string {
  const queries = new QueryClient();
  const list = [{ ensemble: testEnsemble(), version: 1, createdAt: "2026-03-01T10:00:00.000Z", actor: "ada" }];
  const state = { data: list, dataUpdatedAt: Date.now() - readMs, status: "success", fetchStatus: "fetching" } as const;
  queries
    .getQueryCache()
    .build(queries, { queryKey: [["ensembles", "list"], { type: "query" }] })
    .setState(state);
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  return renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <Shown named="gone" />
      </TRPCProvider>
    </QueryClientProvider>,
  );
}

it("waits for a list that was read since the name was asked for, and stays with what that says while it is read again", () => {
  expect(shown(60_000)).toBe("loading");
  expect(shown(-60_000)).toBe("empty");
});
