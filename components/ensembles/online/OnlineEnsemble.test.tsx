import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { TRPCProvider } from "@/components/api/trpc";
import type { AppRouter } from "@/server/api/router";
import type { ClusterSummary, ServedEnsemble } from "@/server/contracts/studio";
import { testServed } from "../testing/testGate";
import { OnlineEnsemble } from "./OnlineEnsemble";
import { tauEffect } from "./prepareOnlineTau";

const cluster = { spec: { id: "lab" }, emulated: false, timeScale: 1 } as ClusterSummary;

function drawn(served: ServedEnsemble): string {
  const queries = new QueryClient();
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:9" })] });
  return renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <TRPCProvider trpcClient={client} queryClient={queries}>
        <OnlineEnsemble cluster={cluster} served={served} kept={undefined} sample={null} />
      </TRPCProvider>
    </QueryClientProvider>,
  );
}

const none = { requests: 0, outcomes: { skipped: 0, aggregated: 0, "aggregator-failed": 0, failed: 0 }, votes: {} };
const fresh = testServed({ ...none, inForce: { ...testServed().inForce, ...none } });

it("has everything that is pressed above all that is counted, so that no count moves it", () => {
  const before = (served: ServedEnsemble) => {
    const markup = drawn(served);
    return markup.slice(0, markup.indexOf(tauEffect(served, served.ensemble.tau))).replaceAll(/aria-valuetext="[^"]*"/g, "");
  };
  const head = before(fresh);
  expect(head).toMatch(/>Withdraw<.*Skip the aggregator from tau/);
  expect(head).not.toContain("Requests at this tau");
  expect(before(testServed())).toBe(head);
});

it("says of a tau under which nothing has ended yet that nothing has", () => {
  expect(drawn(fresh)).toMatch(/<ul aria-label="How requests ended at this tau"[^>]*><li[^>]*>no request has ended yet<\/li><\/ul>/);
  expect(drawn(testServed())).not.toContain("no request has finished yet");
});
