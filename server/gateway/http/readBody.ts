import type { IncomingMessage } from "node:http";
import { type JsonExcess, type JsonLimits, JsonScan } from "@/server/contracts/http/jsonScan";
import type { EndSignal } from "@/server/lib/requestEnd";
import { BodyDecoder, encodingOf } from "./bodyDecoder";

export type BodyRead =
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The JSON has more of this than is allowed. */
  | { readonly kind: "too-complex"; readonly excess: JsonExcess }
  /** The compressed body grows more than a text does. */
  | { readonly kind: "bomb" }
  /** The body is compressed in a way that is not read. */
  | { readonly kind: "unknown-encoding" }
  /** The body is not what its `content-encoding` says. */
  | { readonly kind: "undecodable" }
  /** No memory is left next to the bodies of other requests. */
  | { readonly kind: "no-room" }
  /** The signal fired before the body was whole. */
  | { readonly kind: "ended" }
  /** The client disconnected before the body was whole. */
  | { readonly kind: "cut-off" };

interface BodyLimits {
  /** Of the body as it is sent, and decompressed. */
  readonly mostBytes: number;
  /** Of a body of JSON. */
  readonly json?: JsonLimits;
  readonly signal?: EndSignal;
  /** Reserves memory for each piece; false if there is none. */
  readonly grow?: (bytes: number) => boolean;
}

/** The body, if it is short enough, not compressed, and has come whole with its headers; null if `readBody` must read it. */
export function bodyAtHand(request: IncomingMessage, mostBytes: number): Buffer | null {
  const { "content-length": declared, "content-encoding": encoding } = request.headers;
  const { readableLength } = request;
  const isWhole = readableLength > 0 && readableLength === Number(declared);
  return isWhole && readableLength <= mostBytes && encodingOf(encoding) === null ? request.read() : null;
}

/** A body that is whole, within the same limits. */
export function checkedBody(bytes: Buffer, { json, grow }: Pick<BodyLimits, "json" | "grow">): BodyRead {
  const excess = json === undefined ? null : new JsonScan(json).push(bytes);
  if (excess !== null) return { kind: "too-complex", excess };
  return grow?.(bytes.length) === false ? { kind: "no-room" } : { kind: "body", bytes };
}

/** Reads a request body of at most `mostBytes`, decompressed. The rest of one that exceeds a limit is not read. */
export function readBody(request: IncomingMessage, { mostBytes, json, signal, grow }: BodyLimits): Promise<BodyRead> {
  const encoding = encodingOf(request.headers["content-encoding"]);
  const declaredBytes = Number(request.headers["content-length"] ?? 0);
  if (encoding === "unknown" || declaredBytes > mostBytes) {
    request.on("error", () => undefined);
    return Promise.resolve({ kind: encoding === "unknown" ? "unknown-encoding" : "too-large" });
  }
  return new Promise((resolve) => {
    const scan = json === undefined ? null : new JsonScan(json);
    const decoder = encoding === null ? null : new BodyDecoder(encoding);
    const chunks: Buffer[] = [];
    let sentBytes = 0;
    let length = 0;
    let dropped = false;
    const drop = (why: Exclude<BodyRead, { readonly kind: "body" }>): void => {
      dropped = true;
      chunks.length = 0;
      decoder?.close();
      // Read on when it is answered.
      request.pause();
      resolve(why);
    };
    const take = (chunk: Buffer): void => {
      if (dropped) return;
      length += chunk.length;
      const excess = scan?.push(chunk) ?? null;
      if (length > mostBytes) drop({ kind: "too-large" });
      else if (excess !== null) drop({ kind: "too-complex", excess });
      else if (grow?.(chunk.length) === false) drop({ kind: "no-room" });
      else chunks.push(chunk);
    };
    const end = (): void => resolve({ kind: "body", bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) });
    signal?.addEventListener("abort", () => drop({ kind: "ended" }), { once: true });
    decoder?.start({ request, onChunk: take, onEnd: end, onProblem: (kind) => drop({ kind }) });
    request.on("data", (chunk: Buffer) => {
      if (dropped) return;
      sentBytes += chunk.length;
      if (decoder === null) take(chunk);
      else if (sentBytes > mostBytes) drop({ kind: "too-large" });
      else decoder.write(chunk);
    });
    request.on("end", () => (decoder === null ? end() : decoder.end()));
    request.on("close", () => {
      if (!request.complete) drop({ kind: "cut-off" });
    });
    request.on("error", () => drop({ kind: "cut-off" }));
  });
}
