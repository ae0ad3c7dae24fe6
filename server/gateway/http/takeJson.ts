import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { JsonLimits } from "@/server/contracts/http/jsonScan";
import type { Ending } from "@/server/lib/requestEnd";
import { abortError } from "./abortError";
import type { ApiError } from "./apiError";
import type { BodyReservation } from "./bodyMemoryBudget";
import { bodyRefusal } from "./bodyRefusal";
import { parseJson } from "./parseJson";
import { type BodyRead, bodyAtHand, checkedBody, readBody } from "./readBody";

interface Taking {
  readonly mostBytes: number;
  readonly json: JsonLimits;
  /** Of the whole request; fired with `slow-body` if the body takes longer than `arrivalSeconds`. */
  readonly abort: Ending;
  readonly arrivalSeconds: number;
  readonly place: BodyReservation;
}

export interface TakenJson {
  readonly value: unknown;
  /** The body's own text. */
  readonly text: () => string;
  /** Of the body, decompressed. */
  readonly byteLength: number;
  /** The body itself. */
  readonly bytes: Buffer;
  /** Time at which the body was whole. */
  readonly completeMs: number;
}

/** Why a request is not taken in, with the headers of the answer that says so. */
export interface Refusal {
  readonly error: ApiError;
  readonly headers?: OutgoingHttpHeaders;
  /** The body exceeds what a client has reason to send. */
  readonly isHostile?: boolean;
}

/** Reads and parses a client's body within its limits of size, time and memory. */
export async function takeJson(
  request: IncomingMessage,
  { mostBytes, json, abort, arrivalSeconds, place }: Taking,
): Promise<TakenJson | Refusal | "gone"> {
  const grow = (bytes: number): boolean => place.grow(bytes);
  // A short body comes with its headers, and is there once the turn in which these were read is over.
  await null;
  const atHand = bodyAtHand(request, mostBytes);
  let read: BodyRead;
  if (atHand !== null) read = checkedBody(atHand, { json, grow });
  else {
    const arriving = setTimeout(() => abort.abort("slow-body" satisfies AbortKind), arrivalSeconds * 1000);
    read = await readBody(request, { mostBytes, json, signal: abort.signal, grow });
    clearTimeout(arriving);
  }
  const completeMs = performance.now();
  if (read.kind === "cut-off") return "gone";
  if (read.kind === "ended") return { error: abortError(abort.signal), headers: { connection: "close" } };
  if (read.kind !== "body") {
    place.leave();
    const error = bodyRefusal(read, { mostBytes, json });
    return read.kind === "no-room" ? { error, headers: { "retry-after": "1" } } : { error, isHostile: true };
  }
  const parsed = await parseJson(read.bytes);
  if ("error" in parsed) return { error: parsed.error, ...(parsed.error.status === 503 && { headers: { "retry-after": "1" } }) };
  let text: string | undefined;
  const textOnce = (): string => {
    text ??= read.bytes.toString("utf8");
    return text;
  };
  return { value: parsed.value, text: textOnce, byteLength: read.bytes.length, bytes: read.bytes, completeMs };
}
