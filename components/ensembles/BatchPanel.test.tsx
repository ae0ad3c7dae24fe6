import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { AppRouter } from "@/server/api/router";
import type { BatchSummary } from "@/server/contracts/studio";
import { TRPCProvider } from "../api/trpc";
import { BatchPanel } from "./BatchPanel";
import { testBatch } from "./testEnsembles";

/** A batch that the studio fails to read, as its page has it. */
function drawnUnread(listed: BatchSummary): string {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, retryOnMount: false } } });
  const queryKey = [["batches", "get"], { input: { id: listed.id }, type: "query" }];
  const error = new Error("The studio failed here; its log says why.");
  queries.getQueryCache().build(queries, { queryKey }).setState({ status: "error", error, fetchStatus: "idle" });
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  return renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <BatchPanel id={listed.id} listed={listed} onSample={() => {}} onRemoved={() => {}} />
      </TRPCProvider>
    </QueryClientProvider>,
  );
}

it("says of a batch that cannot be read what is known of it, and lets it be resumed or stopped", () => {
  const pause = { kind: "problem", reason: "The studio could not go on.", since: "2026-03-01T10:00:00Z" } as const;
  const markup = drawnUnread(testBatch({ state: "paused", pause }));
  expect(markup).toContain("night");
  expect(markup).toContain("The studio failed here; its log says why.");
  expect(markup).toContain("The studio could not go on.");
  expect(markup).toMatch(/>Resume<.*>Stop</);
});

it("lets one be removed that is over and cannot be read", () => {
  const markup = drawnUnread(testBatch({ state: "stopped", endedAt: "2026-03-01T11:00:00Z" }));
  expect(markup).toContain("The studio failed here; its log says why.");
  expect(markup).toMatch(/>Remove/);
});
