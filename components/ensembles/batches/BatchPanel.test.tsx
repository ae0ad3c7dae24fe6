import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { TRPCProvider } from "@/components/api/trpc";
import type { AppRouter } from "@/server/api/router";
import type { Batch, BatchSummary } from "@/server/contracts/studio";
import { testBatch } from "../testing/testEnsembles";
import { BatchPanel } from "./BatchPanel";

type Kept = { readonly data: Batch } | { readonly error: Error };

/** The page of a batch with this answer of the studio. */
function drawn(listed: BatchSummary, kept: Kept): string {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, retryOnMount: false } } });
  const queryKey = [["batches", "get"], { input: { id: listed.id }, type: "query" }];
  const status = "data" in kept ? "success" : "error";
  queries
    .getQueryCache()
    .build(queries, { queryKey })
    .setState({ ...kept, status, fetchStatus: "idle" });
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  return renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <BatchPanel id={listed.id} listed={listed} onSample={() => {}} onRemoved={() => {}} />
      </TRPCProvider>
    </QueryClientProvider>,
  );
}

/** The page of a batch that the studio fails to read. */
const drawnUnread = (listed: BatchSummary): string => drawn(listed, { error: new Error("The studio failed here; its log says why.") });
const drawnRead = (data: Batch): string => drawn(data, { data });

it("says of a batch that cannot be read what is known of it, and lets it be resumed or stopped", () => {
  const pause = { kind: "problem", reason: "The studio stopped.", since: "2026-03-01T10:00:00Z" } as const;
  const markup = drawnUnread(testBatch({ state: "paused", pause }));
  expect(markup).toContain("night");
  expect(markup).toContain("The studio failed here; its log says why.");
  expect(markup).toContain("The studio stopped.");
  expect(markup).toMatch(/>Resume<.*>Stop</);
});

it("lets one be removed that is over and cannot be read", () => {
  const markup = drawnUnread(testBatch({ state: "stopped", endedAt: "2026-03-01T11:00:00Z" }));
  expect(markup).toContain("The studio failed here; its log says why.");
  expect(markup).toMatch(/>Remove/);
});

it("lets a sample be made of one that is over where nothing was decided, and of none that no expert is through with", () => {
  const { progress } = testBatch();
  const at = (toAggregate: number, state: Batch["state"] = "stopped") => {
    const questions = { skipped: 0, aggregated: 0, unanswered: 0, open: 40, toAggregate };
    return drawnRead(testBatch({ state, accuracy: null, progress: { ...progress, questions } }));
  };
  const button = "Make a sample of its answers";
  expect([at(40), at(0), at(40, "running")].map((markup) => markup.includes(button))).toEqual([true, false, false]);
  expect(at(0)).toContain("Download results");
});
