import { request } from "undici";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import type { ScrapeFailureKind } from "@/server/contracts/studio";
import { PromParser, type PromText } from "@/server/engines/promText";
import { engineAgent } from "../engineClient/engineAgent";

/** Why there is no result: no answer, no key, too slow, a wrong status, too much, or unreadable. */
export interface ScrapeFailure {
  readonly ok: false;
  readonly kind: ScrapeFailureKind;
  readonly reason: string;
}
export type ScrapeResult = { readonly ok: true; readonly text: string } | ScrapeFailure;
export type MetricsResult = { readonly ok: true; readonly metrics: PromText } | ScrapeFailure;

export interface ScrapeOptions {
  readonly timeoutMs: number;
  readonly bearer?: string;
  /** The engine's credentials. */
  readonly access?: EngineAccess | undefined;
}

/**
 * A vLLM exposition is about 22 kB and a dcgm one about 6 kB a GPU; 8 MB is far beyond any engine or node, and small enough
 * that a target that streams without end cannot fill the studio's memory.
 */
export const MAX_SCRAPE_BYTES = 8_000_000;

/** GETs a text under a time and a size limit. Never throws. */
export async function scrape(url: string, options: ScrapeOptions): Promise<ScrapeResult> {
  const chunks: Buffer[] = [];
  const failed = await receive(url, options, (chunk) => void chunks.push(chunk));
  return failed ?? { ok: true, text: Buffer.concat(chunks).toString("utf8") };
}

/** GETs an exposition under a time and a size limit, parsed as it arrives. Never throws. */
export async function scrapeMetrics(url: string, options: ScrapeOptions): Promise<MetricsResult> {
  const parser = new PromParser();
  const failed = await receive(url, options, (chunk) => parser.write(chunk));
  return failed ?? { ok: true, metrics: parser.end() };
}

/** Passes on the body piece by piece; null if it arrived whole. */
async function receive(
  url: string,
  { timeoutMs, bearer, access }: ScrapeOptions,
  take: (chunk: Buffer) => void,
): Promise<ScrapeFailure | null> {
  try {
    const response = await request(url, {
      dispatcher: engineAgent(access),
      signal: AbortSignal.timeout(timeoutMs),
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    });
    // A body that is destroyed early emits an error; without a listener it would end the process.
    response.body.on("error", () => undefined);
    if (response.statusCode !== 200) {
      response.body.destroy();
      return { ok: false, kind: "status", reason: `${url} answered ${response.statusCode}` };
    }
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > MAX_SCRAPE_BYTES) return { ok: false, kind: "too-large", reason: `${url} sent more than ${MAX_SCRAPE_BYTES} bytes` };
      take(chunk);
    }
    return null;
  } catch (error) {
    return failure(url, timeoutMs, error);
  }
}

function failure(url: string, timeoutMs: number, error: unknown): ScrapeFailure {
  if (error instanceof EngineAccessError) return { ok: false, kind: "access", reason: error.message };
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === "TimeoutError") return { ok: false, kind: "timeout", reason: `${url} did not answer within ${timeoutMs} ms` };
  return { ok: false, kind: "unreachable", reason: `${url} cannot be reached: ${code ?? message ?? String(error)}` };
}
