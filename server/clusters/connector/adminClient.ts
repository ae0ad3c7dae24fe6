import type { z } from "zod";
import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import { guardedFetch } from "@/server/contracts/engine/guardedFetch";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";
import { revisionHeader, type SignedParts, signatureHeader } from "@/server/contracts/gateway/signedOrder";
import type { SignOrder } from "@/server/lib/studioKey";

/** The cluster for which orders are signed, and the studio's signer. */
export interface OrderSigning {
  readonly clusterId: string;
  readonly sign: SignOrder;
}

export interface AdminRequest<Schema extends z.ZodType> {
  readonly method?: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  /** Bytes are sent unchanged, everything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For an order that the gateway follows only from the studio: the parts of its configuration that it may put into force; absent: none. */
  readonly parts?: SignedParts;
  /** Schema of the JSON answer; for NDJSON, of its lines as texts. */
  readonly schema: Schema;
  readonly signal?: AbortSignal | undefined;
  /** For calls on which a user waits; absent: the limit of the slowest call. */
  readonly limitMs?: number | undefined;
  /** Statuses besides 2xx that mean success without a body, such as 404 for a deletion. */
  readonly alsoFine?: readonly number[];
}

export interface AdminReply<Value> {
  readonly status: number;
  readonly etag: string | null;
  /** null for an empty body. */
  readonly value: Value | null;
}

/** `late`: it did not answer in time, so the requested action may have been done. */
export type AdminFailure = "answered" | "unreachable" | "late";

export type AdminAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string; readonly failure: AdminFailure };

/** Admin listeners answer at once; the slowest call transfers some megabytes of outcomes. */
const requestLimitMs = 30_000;

/** Longest part of a foreign error message that is repeated to an operator. */
const shownErrorLength = 300;

/**
 * Calls one process's admin listener with its token, or with the one found by a reference; every failure is returned as a sentence that
 * names process and address.
 *
 * @param signing signs orders to a gateway; null: they are not signed.
 */
export function createAdminClient(name: string, baseUrl: string, token: string | KeyReference, signing: OrderSigning | null = null) {
  const access = typeof token === "string" ? null : new EngineAccessReader({ key: token });
  return async function call<Schema extends z.ZodType>(
    path: string,
    request: AdminRequest<Schema>,
  ): Promise<AdminAnswer<AdminReply<z.infer<Schema>>>> {
    const { limitMs = requestLimitMs } = request;
    const reading = access?.at(new URL(baseUrl).origin) ?? ({ ok: true, key: token } as const);
    if (!reading.ok) return failed(`The ${name} at ${baseUrl} is not asked: ${reading.error.message}.`, "unreachable");
    const limit = AbortSignal.timeout(limitMs);
    const send = (after?: number): Promise<Response> =>
      guardedFetch(new URL(path, baseUrl), {
        method: request.method ?? "GET",
        headers: {
          ...{ authorization: `Bearer ${reading.key}`, "content-type": "application/json", ...request.headers },
          ...signatureOf(path, request, signing, after),
        },
        body: bodyOf(request.body),
        signal: request.signal === undefined ? limit : AbortSignal.any([request.signal, limit]),
      });
    let response: Response;
    let text: string;
    try {
      response = await send();
      // The gateway is ahead of this studio's clock.
      const ahead = response.headers.get(revisionHeader);
      if (ahead !== null && response.status === 409) response = await send(Number(ahead));
      text = await response.text();
    } catch (error) {
      request.signal?.throwIfAborted();
      if (limit.aborted) return failed(`The ${name} at ${baseUrl} did not answer within ${limitMs / 1000} s.`, "late");
      return failed(`The ${name} at ${baseUrl} cannot be reached (${networkReason(error)}).`, "unreachable");
    }
    const reply = { status: response.status, etag: response.headers.get("etag") };
    if (request.alsoFine?.includes(response.status)) return { ok: true, value: { ...reply, value: null } };
    if (!response.ok) return failed(`The ${name} answered ${response.status}: ${errorText(text)}`);
    if (text === "") return { ok: true, value: { ...reply, value: null } };
    const isLines = response.headers.get("content-type")?.startsWith("application/x-ndjson") === true;
    const parsed = request.schema.safeParse(isLines ? text.trimEnd().split("\n") : parseJson(text));
    if (!parsed.success) return failed(`The ${name} answered ${path} in a form this studio does not know.`);
    return { ok: true, value: { ...reply, value: parsed.data } };
  };
}

function signatureOf(
  path: string,
  { method = "GET", parts, body }: Pick<AdminRequest<z.ZodType>, "method" | "parts" | "body">,
  signing: OrderSigning | null,
  after: number | undefined,
): Readonly<Record<string, string>> {
  if (parts === undefined || signing === null) return {};
  const { clusterId, sign } = signing;
  // As it is sent: without members that JSON leaves out.
  const sent: unknown = JSON.parse(JSON.stringify(body));
  const order = { clusterId, order: `${method} ${path}`, body: sent, parts, ...(after === undefined ? {} : { after }) };
  return { [signatureHeader]: sign(order) };
}

export type AdminClient = ReturnType<typeof createAdminClient>;

const failed = (message: string, failure: AdminFailure = "answered") => ({ ok: false, message, failure }) as const;

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message inside an OpenAI-style error body, else the body's beginning. */
function errorText(text: string): string {
  const body = parseJson(text) as { error?: { message?: unknown } } | undefined;
  const message = body?.error?.message;
  return (typeof message === "string" ? message : text).slice(0, shownErrorLength);
}
