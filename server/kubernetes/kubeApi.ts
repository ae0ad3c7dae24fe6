import { once } from "node:events";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { type RequestOptions, request as tlsRequest } from "node:https";
import { z } from "zod";
import { guardedLookup, hostRefusal } from "@/server/contracts/engine/guardedConnector";
import { timeLimit } from "@/server/lib/timeLimit";
import type { KubernetesConnection } from "./connection";
import { type KubeCredentials, readCredentials } from "./kubeCredentials";

interface KubeRequest<Schema extends z.ZodType> {
  readonly method?: "GET" | "PATCH" | "DELETE";
  /** Including its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly schema: Schema;
  /** The answer is text, not JSON. */
  readonly text?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
}

/**
 * `away`: no answer, or not now; ask again. `denied`: other credentials are needed. `forbidden`: these credentials lack the right.
 * `missing`: the object does not exist.
 */
type KubeFailure = "away" | "denied" | "forbidden" | "missing" | "conflict" | "refused";

export type KubeAnswer<Value> =
  | { readonly ok: true; readonly value: Value; readonly created?: boolean }
  | { readonly ok: false; readonly message: string; readonly failure: KubeFailure };

export type KubeApi = <Schema extends z.ZodType>(request: KubeRequest<Schema>) => Promise<KubeAnswer<z.infer<Schema>>>;

/** The API server's own timeout is a minute. */
const requestLimitMs = 30_000;

/** Interval at which other credentials are read if these lack a right. */
const rightsMs = 60_000;

/** Longest part of the API server's message that is repeated to an operator. */
const shownLength = 400;

const statusSchema = z.object({
  message: z.string().default(""),
  details: z
    .object({
      causes: z.array(z.object({ reason: z.string().optional(), message: z.string().optional(), field: z.string().optional() })).optional(),
    })
    .optional(),
});

/**
 * Calls an API server with a kubeconfig's or a pod's credentials; every failure comes back as a sentence. Credentials are read once for all
 * calls and kept until they are refused: then they are read again once, since kubeconfigs and tokens are replaced while a studio runs.
 */
export function createKubeApi(access: KubernetesConnection["access"]): KubeApi {
  let kept: Promise<KubeCredentials | string> | null = null;

  /** One at a time: a plugin that waits for a user's login is not run again for each call. */
  function credentials(): Promise<KubeCredentials | string> {
    if (kept !== null) return kept;
    const begun = readCredentials(access);
    kept = begun;
    void begun.then((found) => {
      if (typeof found === "string" && kept === begun) kept = null;
    });
    return begun;
  }

  return async function call(request) {
    const limitMs = request.limitMs ?? requestLimitMs;
    request.signal?.throwIfAborted();
    const signal = timeLimit(request.signal, limitMs);
    const ended = once(signal, "abort").then(() => null);
    for (let isRenewed = kept === null; ; isRenewed = true) {
      const using = credentials();
      const found = await Promise.race([using, ended]);
      request.signal?.throwIfAborted();
      if (found === null) return failed("denied", `${wayOf(access)} to credentials did not answer within ${limitMs / 1000} s.`);
      if (typeof found === "string") return failed("denied", found);
      const answer = await ask(request, found, signal, limitMs);
      if (answer.ok || isRenewed || !isWorn(answer.failure, found)) return answer;
      if (kept === using) kept = null;
    }
  };
}

const wayOf = (access: KubernetesConnection["access"]): string =>
  access.from === "kubeconfig" ? `The kubeconfig ${access.path}'s own way` : "The pod's own way";

/** Other credentials may have a missing right; they are not read at every call. */
const isWorn = (failure: KubeFailure, { atMs }: KubeCredentials): boolean =>
  failure === "denied" || (failure === "forbidden" && Date.now() - atMs > rightsMs);

async function ask<Schema extends z.ZodType>(
  request: KubeRequest<Schema>,
  { server, options }: KubeCredentials,
  signal: AbortSignal,
  limitMs: number,
): Promise<KubeAnswer<z.infer<Schema>>> {
  const headers = { ...options.headers, accept: request.text ? "*/*" : "application/json" };
  const asked: RequestOptions = { ...options, method: request.method ?? "GET", headers };
  let reply: { readonly status: number; readonly text: string };
  try {
    reply = await send(new URL(request.path, withSlash(server)), asked, request.body, signal);
  } catch (error) {
    request.signal?.throwIfAborted();
    if (signal.aborted) return failed("away", `The API server at ${server} did not answer within ${limitMs / 1000} s.`);
    return failed("away", `The API server at ${server} cannot be reached (${networkReason(error)}).`);
  }
  if (reply.status >= 300) return refusal(server, reply.status, reply.text);
  const parsed = request.schema.safeParse(request.text ? reply.text : parseJson(reply.text));
  return parsed.success
    ? { ok: true, value: parsed.data, created: reply.status === 201 }
    : failed("refused", `The API server at ${server} answered ${request.path.split("?")[0]} in a form this studio does not know.`);
}

const failed = (failure: KubeFailure, message: string) => ({ ok: false, failure, message }) as const;

const withSlash = (server: string): string => (server.endsWith("/") ? server : `${server}/`);

function send(url: URL, options: RequestOptions, body: unknown, signal: AbortSignal): Promise<{ status: number; text: string }> {
  const text = body === undefined ? null : JSON.stringify(body);
  // JSON is YAML, and the only form that every server since 1.22 accepts for server-side apply.
  const type = options.method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
  const headers = text === null ? {} : { "content-type": type, "content-length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const refused = hostRefusal(url.hostname);
    if (refused !== null) return reject(refused);
    const send = url.protocol === "https:" ? tlsRequest : plainRequest;
    const call = send(
      url,
      { ...options, lookup: guardedLookup, headers: { ...options.headers, ...headers }, signal },
      (response: IncomingMessage) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      },
    );
    call.on("error", reject);
    call.end(text);
  });
}

function refusal(server: string, status: number, text: string): Extract<KubeAnswer<never>, { ok: false }> {
  const parsed = statusSchema.safeParse(parseJson(text));
  const message = (parsed.success ? parsed.data.message : text).slice(0, shownLength).replace(/\.?$/, ".");
  const causes = parsed.success ? (parsed.data.details?.causes ?? []) : [];
  if (status === 401) return failed("denied", `The API server at ${server} does not take these credentials: they are expired or missing.`);
  if (status === 403) return failed("forbidden", `These credentials are expired or missing a right: ${message}`);
  if (status === 404) return failed("missing", message);
  const held = causes.filter((cause) => cause.reason === "FieldManagerConflict" || /^conflict with /.test(cause.message ?? ""));
  const [first] = held;
  if (status === 409 && first !== undefined) {
    const who = /"([^"]*)"/.exec(first.message ?? "")?.[1] ?? "another field manager";
    const more = held.length === 1 ? "" : `, and ${held.length - 1} more ${held.length === 2 ? "field" : "fields"}`;
    return failed("conflict", `${first.field ?? "A field"} is held by ${who}, not by Weir${more}.`);
  }
  // Without such causes there was a write between a read and a write of the API server's own.
  if (status === 409 || status === 429 || status >= 500)
    return failed("away", `The API server at ${server} answered ${status}: ${message}`);
  return failed("refused", message);
}

function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
