import type { Json } from "../http/endpoint";
import { carriedOr } from "./bodyFields";
import type { Exchange } from "./dialect";
import { messageJson } from "./messagesAnswer";
import { messagesErrorJson } from "./messagesErrors";
import { MessagesEvents } from "./messagesEvents";
import { messagesRequest, wantsThinking } from "./messagesRequest";

/** One request to Anthropic's Messages API, version 2023-06-01. */
export class MessagesExchange implements Exchange {
  #showsThinking = false;

  chatBody(body: Json, raw: () => string) {
    this.#showsThinking = wantsThinking(body);
    return carriedOr(() => messagesRequest(body, raw));
  }

  answer(completion: Json, context: Parameters<Exchange["answer"]>[1]) {
    return messageJson(completion, context, { showsThinking: this.#showsThinking });
  }

  error(...[error, context]: Parameters<Exchange["error"]>): string {
    return messagesErrorJson(error, context);
  }

  events(context: Parameters<Exchange["events"]>[0]) {
    return new MessagesEvents(context, { showsThinking: this.#showsThinking });
  }

  headers(requestId: string) {
    return { "request-id": requestId };
  }
}
