import { z } from "zod";
import { timeLimit } from "./timeLimit";
import type { Look } from "./waitUntil";

/** An engine that answers its health check takes no longer than this for one token, even when busy. */
const probeLimitMs = 30_000;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
const completionSchema = z.object({ usage: z.object({ completion_tokens: z.int() }) });

/**
 * Whether an engine can be given requests: `/health` answers 200, the model is in `/v1/models`, and it generates one
 * token. Each alone has been seen to hold on engines that then failed their first request.
 */
export async function verifyEngine(url: string, model: string, signal: AbortSignal): Promise<Look> {
  const call = async (path: string, body?: unknown): Promise<{ readonly status: number; readonly json: unknown } | null> => {
    try {
      const response = await fetch(new URL(path, url), {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
        signal: timeLimit(signal, probeLimitMs),
      });
      const text = await response.text();
      return { status: response.status, json: text.startsWith("{") ? JSON.parse(text) : null };
    } catch {
      signal.throwIfAborted();
      return null;
    }
  };
  const health = await call("/health");
  if (health === null) return { waiting: `${url} does not answer yet` };
  if (health.status !== 200) return { waiting: `/health answers ${health.status}: still loading` };
  const models = modelListSchema.safeParse((await call("/v1/models"))?.json);
  if (!models.success || !models.data.data.some((one) => one.id === model)) return { waiting: `/v1/models does not list ${model}` };
  const request = { model, messages: [{ role: "user", content: "Say one word." }], max_tokens: 1 };
  const completion = completionSchema.safeParse((await call("/v1/chat/completions", request))?.json);
  if (!completion.success || completion.data.usage.completion_tokens < 1) return { waiting: "it generated no token yet" };
  return { holds: "healthy, model listed, one token generated" };
}
