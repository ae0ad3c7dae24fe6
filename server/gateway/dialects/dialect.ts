import type { BodyRefusal, Json } from "../http/endpoint";
import type { ChatDelta } from "./chatDelta";
import type { ChatError } from "./chatError";

/** What an answer is written with, besides what the engine said. */
export interface AnswerContext {
  /** 32 hexadecimal digits: those of the decision where there is one. */
  readonly answerId: string;
  /** As in `x-request-id`. */
  readonly requestId: string;
  /** Unix time. */
  readonly nowSeconds: number;
}

/** A client's body as one of chat completions. */
export interface ChatBody {
  readonly body: Json;
  /** Fields that are accepted and change nothing. */
  readonly ignored: readonly string[];
  /** Bytes of it that the client's does not have, but the gateway kept; absent: none. */
  readonly addedBytes?: number;
}

/** One request in an API other than chat completions, and its answer. Pure, but for what its dialect stores. */
export interface Exchange {
  /**
   * The client's body as one of chat completions, or why it cannot be one.
   * @param raw the body's text: numbers beyond 2^53 are exact in it alone.
   */
  chatBody(body: Json, raw: () => string): ChatBody | BodyRefusal;
  /** A whole completion as JSON text; an error if it cannot be carried. */
  answer(completion: Json, context: AnswerContext): { readonly json: string } | ChatError;
  error(error: ChatError, context: AnswerContext): string;
  /** Begins a stream. */
  events(context: AnswerContext): AnswerEvents;
  /** Headers of every answer. */
  headers(requestId: string): Readonly<Record<string, string>>;
}

/** A streamed answer: each method returns the text of the events to send. */
export interface AnswerEvents {
  delta(delta: ChatDelta): string;
  /** The engine's stream has ended whole. */
  end(): string;
  /** The stream ends with an error; nothing follows. */
  fail(error: ChatError): string;
  heartbeat(comment: string): string;
}

/** An event with a name, as both APIs send them. */
export const namedEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;
