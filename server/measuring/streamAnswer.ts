import { type Dispatcher, request } from "undici";
import { reasonOf } from "@/server/lib/reasonOf";

/** A streamed answer as its client saw it, in milliseconds of `performance.now()`. */
export type StreamedAnswer =
  | {
      readonly kind: "answered";
      readonly sentMs: number;
      readonly firstMs: number;
      readonly lastMs: number;
      /** As the engine counts; null: it does not say. */
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
    }
  | { readonly kind: "failed"; readonly message: string };

interface Asked {
  readonly url: string;
  readonly body: string;
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
}

/** A chunk with the first token: some text, not the role that a chat begins with. Engines stream empty texts for special tokens. */
const ROLE_ONLY = /"role":\s*"assistant"/;
const USAGE = /"prompt_tokens":\s*(\d+)/;
const ANSWERED = /"completion_tokens":\s*(\d+)/;

/** End of a failed answer that is shown. */
const SHOWN = 200;
/** The end of a stream in which its usage is. */
const TAIL = 4000;

/**
 * Sends a request and times its stream. Of the stream it parses nothing but the end: on a machine that also runs the engine, the client's
 * own time counts. Never rejects.
 */
export async function streamAnswer({ url, body, agent, signal }: Asked): Promise<StreamedAnswer> {
  const { origin, pathname } = new URL(url);
  const sentMs = performance.now();
  try {
    const response = await request(origin + pathname, {
      dispatcher: agent,
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    let firstMs = 0;
    let lastMs = 0;
    let tail = "";
    for await (const chunk of response.body) {
      const text = (chunk as Buffer).toString("latin1");
      // The usage chunk and [DONE] come after the last token, without delay.
      lastMs = performance.now();
      if (firstMs === 0 && !isRoleOnly(text)) firstMs = lastMs;
      tail = text.length >= TAIL ? text.slice(-TAIL) : (tail + text).slice(-TAIL);
    }
    if (response.statusCode !== 200) return { kind: "failed", message: `status ${response.statusCode}: ${tail.slice(0, SHOWN)}` };
    if (firstMs === 0) return { kind: "failed", message: "an empty stream" };
    const count = (pattern: RegExp): number | null => {
      const found = pattern.exec(tail)?.[1];
      return found === undefined ? null : Number(found);
    };
    return { kind: "answered", sentMs, firstMs, lastMs, inputTokens: count(USAGE), outputTokens: count(ANSWERED) };
  } catch (problem) {
    return { kind: "failed", message: reasonOf(problem) };
  }
}

const isRoleOnly = (text: string): boolean => ROLE_ONLY.test(text) && !/"content":\s*"[^"]/.test(text);
