"use client";

import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchStreamLink, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { EventSource, type EventSourceInit } from "eventsource";
import { type ReactNode, useState } from "react";
import type { AppRouter } from "@/server/api/router";
import { pageHeaders } from "./pageToken";
import { isSignedOut, toSignIn } from "./signInPage";
import { TRPCProvider } from "./trpc";

const url = "/api/trpc";

/** The browser's own event source sends no headers, so the page token would have to stand in the address. */
class PageEventSource extends EventSource {
  constructor(address: string | URL, init: EventSourceInit = {}) {
    super(address, {
      ...init,
      fetch: (input, options) => fetch(input, { ...options, headers: { ...options.headers, ...pageHeaders() } }),
    });
  }
}

/** Mutations that answer piece by piece. */
const streamed: readonly string[] = ["clusters.tryEndpoints"];

/**
 * Calls go out one by one rather than batched: a plan being solved takes long and must be cancellable alone, without
 * delaying or failing other calls.
 */
function createClient() {
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === "subscription",
        true: httpSubscriptionLink({ url, EventSource: PageEventSource }),
        false: splitLink({
          condition: ({ path }) => streamed.includes(path),
          true: httpBatchStreamLink({ url, headers: pageHeaders, maxItems: 1 }),
          false: httpLink({ url, headers: pageHeaders }),
        }),
      }),
    ],
  });
}

/** 4xx answers are final: a retry gives the same answer. */
function shouldRetry(failures: number, error: unknown): boolean {
  const status = (error as { data?: { httpStatus?: number } }).data?.httpStatus;
  return failures < 2 && (status === undefined || status >= 500);
}

export function ApiProvider({ children }: { readonly children: ReactNode }) {
  const [queryClient] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({ onError: (error) => isSignedOut(error) && toSignIn() }),
        defaultOptions: { queries: { staleTime: 5_000, retry: shouldRetry, refetchOnWindowFocus: false } },
      }),
  );
  const [trpcClient] = useState(createClient);
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}
