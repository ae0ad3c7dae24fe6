import type { Json } from "../http/endpoint";
import { MessagesExchange } from "./messagesDialect";

/** A request about messages that no model answers: only its errors are translated. */
export class TokenCountExchange extends MessagesExchange {
  override chatBody(body: Json, raw: () => string) {
    // A count needs no limit of the answer.
    return super.chatBody({ max_tokens: 1, ...body, stream: false }, raw);
  }

  override answer(count: Json) {
    return { json: JSON.stringify(count) };
  }
}
