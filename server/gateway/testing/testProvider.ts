import type { ServerResponse } from "node:http";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import { seededRandom } from "@/solver/numeric/random";
import { type Asked, startTestEngine } from "./testEngine";

/** What a provider does instead of answering: an error of that status, or an answer that breaks off. */
export type ProviderFault = 429 | 500 | 529 | "broken" | null;

interface TestProviderOptions {
  readonly kind: HostedEngine["kind"];
  /** What the nth call meets, from 0; left out: an answer. */
  readonly fault?: (call: number) => ProviderFault;
  /** What it says in `retry-after` with 429 and 529; left out: nothing. */
  readonly retryAfter?: string;
  /** Wall milliseconds before it answers. */
  readonly delayMs?: number;
  readonly seed?: number;
}

interface Billed {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Fields that the providers' APIs have; any other is refused, as they do. */
const knownFields: Readonly<Record<HostedEngine["kind"], ReadonlySet<string>>> = {
  openai: new Set(
    "model messages max_tokens max_completion_tokens temperature top_p stop stream stream_options tools tool_choice seed user n".split(" "),
  ),
  anthropic: new Set(
    "model messages max_tokens system temperature top_p stop_sequences stream tools tool_choice metadata output_config".split(" "),
  ),
};
const paths = { openai: "/v1/chat/completions", anthropic: "/v1/messages" } as const;

/** Faults drawn from a seed: each call is faulty with that probability. */
export function seededFaults(seed: number, probability: number, faults: readonly ProviderFault[]): (call: number) => ProviderFault {
  const random = seededRandom(seed);
  return () => (random.next() < probability ? (faults[random.int(faults.length)] ?? null) : null);
}

/**
 * A provider's stand-in on loopback. It checks key, path and fields as its API does, counts tokens by its own rule, and bills every answer
 * that it begins. Closed when the test ends.
 */
export async function startTestProvider({ kind, fault = () => null, retryAfter, delayMs = 0, seed = 1 }: TestProviderOptions) {
  const random = seededRandom(seed);
  const billed: Billed[] = [];
  /** Billed for answers that broke off: their clients never got the count. */
  const brokenOff: Billed[] = [];
  let calls = 0;
  const engine = await startTestEngine(async (asked, response) => {
    const met = fault(calls++);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const refusal = refusalOf(kind, asked);
    if (refusal !== null) return sendFault(response, 400, refusal);
    if (typeof met === "number") return sendFault(response, met, `fault ${met}`, retryAfter);
    const most = Number(asked.body.max_completion_tokens ?? asked.body.max_tokens);
    const tokens = {
      inputTokens: Math.ceil(JSON.stringify(asked.body.messages).length / 3),
      outputTokens: Math.min(most, 1 + random.int(40)),
    };
    (met === "broken" ? brokenOff : billed).push(tokens);
    const text = answerText(kind, asked.body.stream === true, tokens, asked.body);
    response.writeHead(200, { "content-type": asked.body.stream === true ? "text/event-stream" : "application/json" });
    if (met !== "broken") return response.end(text);
    response.write(text.slice(0, Math.floor(text.length / 3)));
    response.destroy();
  });
  return {
    ...engine,
    billed,
    brokenOff,
    get calls() {
      return calls;
    },
  };
}

function refusalOf(kind: HostedEngine["kind"], { path, body, headers }: Asked): string | null {
  if (path !== paths[kind]) return `unknown path ${path}`;
  const key = kind === "openai" ? headers.authorization : headers["x-api-key"];
  if (key !== (kind === "openai" ? "Bearer provider-key" : "provider-key")) return `wrong key ${String(key)}`;
  const unknown = Object.keys(body).find((name) => !knownFields[kind].has(name));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  if (kind === "openai") return null;
  if (headers.authorization !== undefined) return "a key in authorization";
  if (headers["anthropic-version"] !== "2023-06-01") return "no anthropic-version";
  if (typeof body.max_tokens !== "number") return "max_tokens is missing";
  const roles = Array.isArray(body.messages) ? body.messages.map(({ role }: { role: string }) => role) : [];
  const bad = roles.find((role, index) => (role !== "user" && role !== "assistant") || role === roles[index - 1]);
  return bad === undefined && roles[0] === "user" ? null : `roles ${roles.join(", ")}`;
}

function sendFault(response: ServerResponse, status: number, message: string, retryAfter?: string): void {
  const type = status === 529 ? "overloaded_error" : status === 429 ? "rate_limit_error" : "invalid_request_error";
  const wait = retryAfter === undefined || (status !== 429 && status !== 529) ? {} : { "retry-after": retryAfter };
  response.writeHead(status, { "content-type": "application/json", ...wait });
  response.end(JSON.stringify({ type: "error", error: { type, message, code: type } }));
}

function answerText(kind: HostedEngine["kind"], isStream: boolean, { inputTokens, outputTokens }: Billed, body: Asked["body"]): string {
  const model = String(body.model);
  if (kind === "openai") {
    const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
    const head = { id: "chatcmpl-9", created: 1, model };
    if (!isStream)
      return JSON.stringify({
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: "from the provider" }, finish_reason: "stop", logprobs: null }],
        usage,
      });
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const options = body.stream_options as { include_usage?: boolean } | undefined;
    const last = options?.include_usage === true ? `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n` : "";
    return `${chunk({ role: "assistant", content: "from " })}${chunk({ content: "the provider" })}${chunk({}, "stop")}${last}data: [DONE]\n\n`;
  }
  const usage = { input_tokens: inputTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: outputTokens };
  const message = { id: "msg_9", type: "message", role: "assistant", model, stop_sequence: null };
  if (!isStream)
    return JSON.stringify({ ...message, content: [{ type: "text", text: "from the provider" }], stop_reason: "end_turn", usage });
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const text = (part: string) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text: part } });
  return [
    event("message_start", { message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("ping", {}),
    text("from "),
    text("the provider"),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: outputTokens } }),
    event("message_stop", {}),
  ].join("");
}
