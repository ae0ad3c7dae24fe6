import type { IncomingMessage } from "node:http";

export type BodyRead =
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The signal fired before the body was whole. */
  | { readonly kind: "ended" }
  /** The client went away before the body was whole. */
  | { readonly kind: "cut-off" };

/**
 * Reads a request body of at most `limitBytes`. What comes of a longer one is dropped: were the connection closed while a client still
 * writes, the reset would cost it the answer that says why.
 */
export function readBody(request: IncomingMessage, limitBytes: number, signal?: AbortSignal): Promise<BodyRead> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    request.on("error", () => undefined).resume();
    return Promise.resolve({ kind: "too-large" });
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    signal?.addEventListener("abort", () => resolve({ kind: "ended" }), { once: true });
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) {
        chunks.length = 0;
        resolve({ kind: "too-large" });
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve({ kind: "body", bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }));
    request.on("close", () => resolve({ kind: "cut-off" }));
    request.on("error", () => resolve({ kind: "cut-off" }));
  });
}
