import type { Dispatcher } from "undici";

export type EngineRead =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  /** Nothing listens there: the engine is ending or has ended, but its host is up. */
  | { readonly kind: "refused"; readonly reason: string }
  /** No response in time, a partial one, or one that is too long. */
  | { readonly kind: "failed"; readonly reason: string };

interface ReadLimits {
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

/** GETs a short text from an engine. Never rejects. */
export async function readEngine(pool: Dispatcher, path: string, { timeoutMs, mostBytes }: ReadLimits): Promise<EngineRead> {
  try {
    const { statusCode: status, body } = await pool.request({ method: "GET", path, signal: AbortSignal.timeout(timeoutMs) });
    // A body that is destroyed early emits an error; without a listener it would end the process.
    body.on("error", () => undefined);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      // Leaving the loop destroys the body.
      if (bytes > mostBytes) return { kind: "failed", reason: `${path} sent more than ${mostBytes} bytes` };
      chunks.push(chunk);
    }
    return { kind: "answered", status, text: Buffer.concat(chunks).toString("utf8") };
  } catch (error) {
    const { name, code, message } = error as { name?: string; code?: string; message?: string };
    if (code === "ECONNREFUSED") return { kind: "refused", reason: "nothing listens there" };
    return {
      kind: "failed",
      reason: name === "TimeoutError" ? `${path} did not answer within ${timeoutMs} ms` : (code ?? message ?? "unknown"),
    };
  }
}
