import { Agent, request } from "undici";

/** A scrape either gives text or says why not: nobody answers, too slow, a wrong status, too much. */
export type ScrapeResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly kind: "unreachable" | "timeout" | "status" | "too-large"; readonly reason: string };

export interface ScrapeOptions {
  readonly timeoutMs: number;
  readonly bearer?: string;
}

/**
 * A vLLM exposition is about 22 kB and a dcgm one about 6 kB a GPU; 8 MB is far beyond any engine or node, and small enough
 * that a target that streams without end cannot fill the studio's memory.
 */
export const MAX_SCRAPE_BYTES = 8_000_000;

/** Connections are kept: a scrape a second from each target should not cost a handshake each. */
const agent = new Agent({ connections: 2, keepAliveTimeout: 30_000, connectTimeout: 2_000 });

/** GETs a text under a time and a size limit. Never throws. */
export async function scrape(url: string, { timeoutMs, bearer }: ScrapeOptions): Promise<ScrapeResult> {
  try {
    const response = await request(url, {
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    });
    // A body that is destroyed early emits an error, and one nobody listens for ends the process.
    response.body.on("error", () => undefined);
    if (response.statusCode !== 200) {
      response.body.destroy();
      return { ok: false, kind: "status", reason: `${url} answered ${response.statusCode}` };
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > MAX_SCRAPE_BYTES) return { ok: false, kind: "too-large", reason: `${url} sent more than ${MAX_SCRAPE_BYTES} bytes` };
      chunks.push(chunk);
    }
    return { ok: true, text: Buffer.concat(chunks).toString("utf8") };
  } catch (error) {
    return failure(url, timeoutMs, error);
  }
}

function failure(url: string, timeoutMs: number, error: unknown): ScrapeResult {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === "TimeoutError") return { ok: false, kind: "timeout", reason: `${url} did not answer within ${timeoutMs} ms` };
  return { ok: false, kind: "unreachable", reason: `${url} cannot be reached: ${code ?? message ?? String(error)}` };
}
