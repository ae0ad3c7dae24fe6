import { type Dispatcher, request } from "undici";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import { engineAgent } from "@/server/engineClient/engineAgent";

export type EndpointAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly location: string | null;
      /** The program, by the header of that name. */
      readonly server: string | null;
      readonly text: string;
      readonly firstMs: number;
    }
  /** `code` is the system's, OpenSSL's or undici's; empty if there is none. */
  | { readonly kind: "failed"; readonly code: string }
  /** Nothing was sent: its key or its authorities are not there, or may not be sent there, or its address is refused. */
  | { readonly kind: "no-access"; readonly error: EngineAccessError }
  | { readonly kind: "late" };

export interface EndpointQuestion {
  readonly target: EngineAccess & { readonly url: string };
  readonly path: string;
  /** POSTed as JSON; left out: a GET. */
  readonly body?: unknown;
  /** Fires at the time limit. */
  readonly signal: AbortSignal;
}

/** Metrics of an engine with hundreds of series have some 100 kB. */
const mostBytes = 8_000_000;

/** Asks an endpoint, with its key. `firstMs`: from the question to the first byte of the body. Never rejects. */
export async function askEndpoint({ target, path, body, signal }: EndpointQuestion): Promise<EndpointAnswer> {
  const startedMs = performance.now();
  const post: Partial<Dispatcher.RequestOptions> =
    body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  try {
    const response = await request(target.url + path, { ...post, signal, dispatcher: engineAgent(target) });
    // A body that is destroyed early emits an error; without a listener it would end the process.
    response.body.on("error", () => undefined);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let firstMs = 0;
    for await (const chunk of response.body) {
      if (bytes === 0) firstMs = performance.now() - startedMs;
      bytes += chunk.length;
      if (bytes > mostBytes) return { kind: "failed", code: "too much" };
      chunks.push(chunk);
    }
    const { location, server } = response.headers;
    return {
      kind: "answered",
      status: response.statusCode,
      location: typeof location === "string" ? location : null,
      server: typeof server === "string" ? server : null,
      text: Buffer.concat(chunks).toString("utf8"),
      firstMs,
    };
  } catch (error) {
    if (error instanceof EngineAccessError) return { kind: "no-access", error };
    if (signal.aborted) return { kind: "late" };
    const { code = "" } = error as { code?: string };
    // undici wraps the system's error where several addresses of a name were tried.
    const inner = (error as { errors?: readonly { code?: string }[] }).errors?.[0]?.code;
    return { kind: "failed", code: inner ?? code };
  }
}

/** The JSON of an answer; undefined if it is not JSON. */
export function jsonOf(answer: EndpointAnswer): unknown {
  if (answer.kind !== "answered" || answer.status !== 200) return undefined;
  try {
    return JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}
