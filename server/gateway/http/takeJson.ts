import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { JsonLimits } from "@/server/contracts/http/jsonScan";
import type { Ending } from "@/server/lib/requestEnd";
import { abortError } from "./abortError";
import type { ApiError } from "./apiError";
import type { BodyReservation } from "./bodyMemoryBudget";
import { bodyRefusal } from "./bodyRefusal";
import { type ParsedJson, parseJson } from "./parseJson";
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

type Taken = TakenJson | Refusal | "gone";

/**
 * Reads and parses a client's body within its limits of size, time and memory: at once if it is short and there. One that comes with its
 * headers is there once the turn in which these were read is over.
 */
export function takeJson(request: IncomingMessage, taking: Taking): Taken | Promise<Taken> {
  const { mostBytes, json, place } = taking;
  const atHand = bodyAtHand(request, mostBytes);
  if (atHand === null) return readLonger(request, taking);
  return parsed(checkedBody(atHand, { json, grow: (bytes) => place.grow(bytes) }), taking);
}

async function readLonger(request: IncomingMessage, taking: Taking): Promise<Taken> {
  const { mostBytes, json, abort, arrivalSeconds, place } = taking;
  const arriving = setTimeout(() => abort.abort("slow-body" satisfies AbortKind), arrivalSeconds * 1000);
  const read = await readBody(request, { mostBytes, json, signal: abort.signal, grow: (bytes) => place.grow(bytes) });
  clearTimeout(arriving);
  return parsed(read, taking);
}

function parsed(read: BodyRead, { mostBytes, json, abort, place }: Taking): Taken | Promise<Taken> {
  const completeMs = performance.now();
  if (read.kind === "cut-off") return "gone";
  if (read.kind === "ended") return { error: abortError(abort.signal), headers: { connection: "close" } };
  if (read.kind !== "body") {
    place.leave();
    const error = bodyRefusal(read, { mostBytes, json });
    return read.kind === "no-room" ? { error, headers: { "retry-after": "1" } } : { error, isHostile: true };
  }
  const { bytes } = read;
  const value = parseJson(bytes);
  return value instanceof Promise ? value.then((later) => takenOf(later, bytes, completeMs)) : takenOf(value, bytes, completeMs);
}

function takenOf(parsed: ParsedJson, bytes: Buffer, completeMs: number): Taken {
  if ("error" in parsed) return { error: parsed.error, ...(parsed.error.status === 503 && { headers: { "retry-after": "1" } }) };
  let text: string | undefined;
  const textOnce = (): string => {
    text ??= bytes.toString("utf8");
    return text;
  };
  return { value: parsed.value, text: textOnce, byteLength: bytes.length, bytes, completeMs };
}
