import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { AppRouter } from "@/server/api/router";
import type { Finding } from "@/server/contracts/studio";
import { TRPCProvider } from "../api/trpc";
import { FindingList } from "./FindingList";

function drawn(finding: Finding): string {
  const queries = new QueryClient();
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  return renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <FindingList findings={[finding]} label="found" onAllowed={() => {}} />
      </TRPCProvider>
    </QueryClientProvider>,
  );
}

const elsewhere: Finding = { what: "key", level: "failed", sentence: "The key is not sent there.", next: null };

it("offers to send a key to an address where that is the obstacle, by a button that names both", () => {
  const markup = drawn({ ...elsewhere, allow: { key: { environment: "WEIR_ENGINE_A" }, origin: "http://gpu-2:8000" } });
  expect(markup).toMatch(/<button[^>]*>Send WEIR_ENGINE_A to http:\/\/gpu-2:8000<\/button>/);
  expect(drawn({ ...elsewhere, allow: { key: { file: "a.key" }, origin: "http://gpu-2:8000" } })).toContain(
    "Send a.key to http://gpu-2:8000",
  );
  expect(drawn(elsewhere)).not.toContain("<button");
});
