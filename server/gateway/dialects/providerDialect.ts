import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { refuseCall, unsentRequest } from "@/server/contracts/engine/refusedCall";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import type { Json } from "../http/endpoint";
import { NotCarried } from "./bodyFields";
import { providerCompletion } from "./providerAnswer";
import { ProviderEvents } from "./providerEvents";
import { providerRequest } from "./providerRequest";

const chatPath = "/v1/chat/completions";
const messagesPath = "/v1/messages";
const messagesVersion = "2023-06-01";
/** Of an answer, or of one event of a stream. */
const mostBytes = 64 * 1024 * 1024;

/** The fields of OpenAI's chat completions. Engines of the house have more, and providers refuse what they do not know. */
const chatFields: ReadonlySet<string> = new Set(
  [
    ["frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens"],
    ["messages", "metadata", "model", "n", "parallel_tool_calls", "prediction", "presence_penalty", "reasoning_effort"],
    ["response_format", "seed", "stop", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p"],
    ["user", "verbosity"],
  ].flat(),
);

/** Fields whose cost a budget in tokens of text does not hold. */
const billedApart = ["audio", "modalities", "web_search_options"] as const;

/** Makes a provider's API one of chat completions: what is sent to it and what comes from it is that of an engine. */
export function providerDialect(kind: HostedEngine["kind"]): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const body: unknown = parsedOr(String(options.body), undefined);
    if (!isRecord(body) || !options.path.endsWith(chatPath))
      return refuseCall(handler, new Error("a provider answers chat completions only"));
    const plain = { "content-type": "application/json" };
    const { authorization } = options.headers as Readonly<Record<string, string | undefined>>;
    const apart = billedApart.find((name) => body[name] !== undefined && body[name] !== null);
    if (apart !== undefined) return answerRefusal(handler, new NotCarried(apart, `\`${apart}\` is billed apart from tokens of text.`));
    if (kind === "openai") {
      const own = Object.fromEntries(Object.entries(body).filter(([name]) => chatFields.has(name)));
      const headers = { ...plain, ...(authorization !== undefined && { authorization }) };
      return dispatch({ ...options, headers, body: JSON.stringify(own) }, handler);
    }
    try {
      const key = authorization?.replace(/^Bearer +/, "");
      const headers = { ...plain, "anthropic-version": messagesVersion, ...(key !== undefined && { "x-api-key": key }) };
      const path = options.path.slice(0, -chatPath.length) + messagesPath;
      return dispatch({ ...options, path, headers, body: providerRequest(body) }, new MessagesReply(handler, body));
    } catch (error) {
      if (!(error instanceof NotCarried)) throw error;
      return answerRefusal(handler, error);
    }
  };
}

/** Answers as a provider that refuses the body. */
function answerRefusal(handler: Dispatcher.DispatchHandler, { message, param }: NotCarried): boolean {
  const error = { message, type: "invalid_request_error", param, code: "unsupported_value" };
  handler.onRequestStart?.(unsentRequest, {});
  handler.onResponseStart?.(unsentRequest, 400, { "content-type": "application/json" }, "Bad Request");
  handler.onResponseData?.(unsentRequest, Buffer.from(JSON.stringify({ error })));
  handler.onResponseEnd?.(unsentRequest, {});
  return true;
}

/** Reads an answer of the Messages API as one of chat completions. Errors have a form that is read already. */
class MessagesReply implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #asked: Json;
  #stream: ProviderEvents | null = null;
  /** The bytes of a whole answer; null: they are passed on. */
  #whole: Buffer[] | null = null;
  #bytes = 0;

  constructor(handler: Dispatcher.DispatchHandler, asked: Json) {
    this.#handler = handler;
    this.#asked = asked;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, message?: string): void {
    if (status === 200 && String(headers["content-type"]).startsWith("text/event-stream")) {
      const { stream_options: options } = this.#asked;
      const includeUsage = isRecord(options) && options.include_usage === true;
      this.#stream = new ProviderEvents({ includeUsage, nowSeconds: nowSeconds(), longestEvent: mostBytes });
    } else if (status === 200) this.#whole = [];
    // The length is that of another text.
    const { "content-length": _, ...kept } = headers;
    this.#handler.onResponseStart?.(controller, status, kept, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream !== null) {
      const text = this.#stream.feed(chunk);
      if (text !== "") this.#handler.onResponseData?.(controller, Buffer.from(text));
    } else if (this.#whole === null) this.#handler.onResponseData?.(controller, chunk);
    else {
      this.#bytes += chunk.length;
      if (this.#bytes > mostBytes) controller.abort(new Error(`its answer is longer than ${mostBytes} bytes`));
      else this.#whole.push(chunk);
    }
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    if (this.#whole !== null) {
      const text = Buffer.concat(this.#whole).toString("utf8");
      const completion = providerCompletion(text, nowSeconds());
      this.#handler.onResponseData?.(controller, Buffer.from(completion === null ? text : JSON.stringify(completion)));
    }
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#handler.onResponseError?.(controller, error);
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);
