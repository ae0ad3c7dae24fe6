import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { servedRouter } from "@/server/api/deprecatedProcedures";
import { isSameOrigin } from "@/server/auth/sameOrigin";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

const handler = (request: Request): Promise<Response> =>
  fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: servedRouter,
    createContext: () => ({
      services: runtime().services,
      session: runtime().sessionOf(request.headers.get("cookie")),
      sameOrigin: isSameOrigin(request.headers),
    }),
    // Compressed, a stream would be held back until there is enough of it.
    responseMeta: () =>
      request.headers.get("trpc-accept") === "application/jsonl" ? { headers: { "cache-control": "no-transform" } } : {},
    onError({ error, path }) {
      // The client has disconnected: an aborted call is not a failure.
      if (request.signal.aborted) return;
      if (error.code === "INTERNAL_SERVER_ERROR") console.error(`Procedure ${path} failed:`, error);
    },
  });

export { handler as GET, handler as POST };
