import { type Dispatcher, request } from "undici";
import { z } from "zod";
import { reasonOf } from "@/server/lib/reasonOf";
import { createMask } from "@/server/lib/secrets";

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
  | { readonly kind: "failed"; readonly message: string }
  /** Its signal fired. */
  | { readonly kind: "stopped" };

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

/** Most characters of an engine's own message that are shown, and of a failed answer that are read for it. */
const SHOWN = 200;
const MOST_ERROR = 16_000;
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
    if (response.statusCode !== 200) return await failure(response);
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
    if (firstMs === 0) return { kind: "failed", message: "an empty stream" };
    const count = (pattern: RegExp): number | null => {
      const found = pattern.exec(tail)?.[1];
      return found === undefined ? null : Number(found);
    };
    return { kind: "answered", sentMs, firstMs, lastMs, inputTokens: count(USAGE), outputTokens: count(ANSWERED) };
  } catch (problem) {
    return signal.aborted ? { kind: "stopped" } : { kind: "failed", message: reasonOf(problem) };
  }
}

const errorSchema = z.object({ error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]) });
const mask = createMask([]);

/**
 * A failed answer by its status and, where its body is an error of the API, that error's message without what looks like a key. Of any other
 * body nothing is shown: an address that is no engine may answer anything.
 */
async function failure({ statusCode, body }: Dispatcher.ResponseData): Promise<StreamedAnswer> {
  let text = "";
  for await (const chunk of body) {
    text += (chunk as Buffer).toString();
    if (text.length > MOST_ERROR) break;
  }
  const read = errorSchema.safeParse(jsonIn(text));
  return { kind: "failed", message: `status ${statusCode}${read.success ? `: ${mask(read.data.error).slice(0, SHOWN)}` : ""}` };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isRoleOnly = (text: string): boolean => ROLE_ONLY.test(text) && !/"content":\s*"[^"]/.test(text);
