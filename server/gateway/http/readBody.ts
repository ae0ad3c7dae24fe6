import type { IncomingMessage } from "node:http";

export type BodyRead =
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** No memory is left next to the bodies of other requests. */
  | { readonly kind: "no-room" }
  /** The signal fired before the body was whole. */
  | { readonly kind: "ended" }
  /** The client disconnected before the body was whole. */
  | { readonly kind: "cut-off" };

interface BodyLimits {
  readonly mostBytes: number;
  readonly signal?: AbortSignal;
  /** Reserves memory for each piece; false if there is none. */
  readonly grow?: (bytes: number) => boolean;
}

/**
 * Reads a request body of at most `mostBytes`. The rest of a longer one, or of one without memory, is read and dropped: if the connection
 * were closed while the client still writes, the reset would cost it the answer with the reason.
 */
export function readBody(request: IncomingMessage, { mostBytes, signal, grow }: BodyLimits): Promise<BodyRead> {
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) {
    request.on("error", () => undefined).resume();
    return Promise.resolve({ kind: "too-large" });
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let dropped = false;
    const drop = (kind: "too-large" | "no-room" | "ended"): void => {
      dropped = true;
      chunks.length = 0;
      resolve({ kind });
    };
    signal?.addEventListener("abort", () => drop("ended"), { once: true });
    request.on("data", (chunk: Buffer) => {
      if (dropped) return;
      length += chunk.length;
      if (length > mostBytes) drop("too-large");
      else if (grow?.(chunk.length) === false) drop("no-room");
      else chunks.push(chunk);
    });
    request.on("end", () => resolve({ kind: "body", bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }));
    request.on("close", () => resolve({ kind: "cut-off" }));
    request.on("error", () => resolve({ kind: "cut-off" }));
  });
}
