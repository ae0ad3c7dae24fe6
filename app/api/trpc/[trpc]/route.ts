import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { servedRouter } from "@/server/api/deprecatedProcedures";
import { permissionOfStream } from "@/server/api/procedureTypes";
import { isSameOrigin } from "@/server/auth/sameOrigin";
import type { Caller, Permission } from "@/server/contracts/studio";
import { readBoundedText } from "@/server/lib/boundedBody";
import { clientAddressOf } from "@/server/lib/verifiedHeaders";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** The largest input is a plan or a table in lines; files go to `/api/uploads`. */
const limits = { maxBytes: 16_000_000, json: { depth: 64, nodes: 400_000, commas: 1_000_000 } };

/** How a client asks for an answer that comes piece by piece. */
const jsonLines = "application/jsonl";

const severalCalls = "Send one call in a request.";

/** Decoded, as tRPC does; a path that cannot be decoded names no procedure. */
function procedurePath(request: Request): string {
  const path = new URL(request.url).pathname.slice("/api/trpc/".length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A query's input is in its address, which Node bounds; a mutation's is JSON, so that no other site's form can send one. */
export async function GET(request: Request): Promise<Response> {
  const path = procedurePath(request);
  if (path.includes(",")) return refuse(400, severalCalls);
  const permission = permissionOfStream(path);
  return permission === null ? answer(request, runtime().callerOf(request.headers)) : answerStream(request, permission);
}

export async function POST(request: Request): Promise<Response> {
  const caller = runtime().callerOf(request.headers);
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) return refuse(415, "Send application/json.");
  if (procedurePath(request).includes(",")) return refuse(400, severalCalls);
  // What a stranger sends is not read.
  if (caller === null) return answer(new Request(request.url, { method: "POST", headers: bare(request.headers) }), null);
  const body = await readBoundedText(request.body, limits);
  if (body === null) return refuse(413, `The request has more than ${limits.maxBytes / 1e6} MB or too many parts: upload a file instead.`);
  const { headers, signal } = request;
  const read = new Request(request.url, { method: "POST", headers, body, signal });
  return headers.get("trpc-accept") === jsonLines ? streamed(read, caller) : answer(read, caller);
}

/** A stream ends with its caller's session. tRPC itself would begin one to say that it is refused. */
async function answerStream(request: Request, permission: Permission): Promise<Response> {
  const access = routeAccess(request, permission);
  if (!access.ok) return access.refusal;
  return streamed(request, access.caller);
}

async function streamed(request: Request, caller: Caller): Promise<Response> {
  const stream = runtime().openStreams.open(caller);
  if (stream === null) return refuse(429, "Too many streams are open in this session: close a page of the studio.");
  request.signal.addEventListener("abort", stream.close, { once: true });
  const ended = new Request(request, { signal: AbortSignal.any([request.signal, stream.signal]) });
  const response = await answer(ended, caller);
  const counted = response.body?.pipeThrough(new TransformStream({ flush: () => stream.close() }));
  return new Response(counted ?? null, response);
}

const answer = (request: Request, caller: Caller | null): Promise<Response> =>
  fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: servedRouter,
    createContext: () => ({
      services: runtime().services,
      caller,
      address: clientAddressOf(request.headers),
      sameOrigin: isSameOrigin(request.headers),
    }),
    // Compressed, a stream would be held back until there is enough of it.
    responseMeta: () => (request.headers.get("trpc-accept") === jsonLines ? { headers: { "cache-control": "no-transform" } } : {}),
    onError({ error, path }) {
      // The client has disconnected: an aborted call is not a failure.
      if (request.signal.aborted) return;
      if (error.code === "INTERNAL_SERVER_ERROR") console.error(`Procedure ${path} failed:`, error);
    },
  });

function bare(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete("content-length");
  return kept;
}

/** In the form of tRPC's own errors. */
const refuse = (status: number, message: string): Response =>
  Response.json({ error: { message, code: -32_600, data: { code: "BAD_REQUEST", httpStatus: status } } }, { status });
