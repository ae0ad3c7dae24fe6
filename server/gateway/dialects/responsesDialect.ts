import type { Json } from "../http/endpoint";
import { carriedOr, NotCarried } from "./bodyFields";
import { chatDelta } from "./chatDelta";
import type { AnswerContext, AnswerEvents, Exchange } from "./dialect";
import type { ResponseStore } from "./responseStore";
import { itemJson, itemsMessage, type OutputItem, outputItems, type ResponseSetting, responseEnd, responseHead } from "./responsesAnswer";
import { ResponsesEvents } from "./responsesEvents";
import { responsesRequest } from "./responsesRequest";

/** One request to OpenAI's Responses API. */
export class ResponsesExchange implements Exchange {
  readonly #store: ResponseStore | null;
  readonly #owner: () => string | null;
  #setting: ResponseSetting = { client: {}, isStored: false };
  #conversation: readonly Json[] = [];

  /**
   * @param store null: responses are not kept.
   * @param owner the name of the API key that it belongs to, once it is known; null if it has none.
   */
  constructor(store: ResponseStore | null, owner: () => string | null) {
    this.#store = store;
    this.#owner = owner;
  }

  chatBody(client: Json) {
    return carriedOr(() => {
      const translated = responsesRequest(client, this.#before(client.previous_response_id));
      this.#setting = { client, isStored: this.#store !== null && client.store !== false };
      this.#conversation = translated.conversation;
      return translated;
    });
  }

  answer(completion: Json, context: AnswerContext) {
    const delta = chatDelta(completion);
    const items = outputItems(delta, context);
    const end = responseEnd(delta.finish, delta.usage);
    const status = end.status === "completed" ? "completed" : "incomplete";
    const output = items.map((item, index) => itemJson(item, index === items.length - 1 ? status : "completed"));
    const response = { ...responseHead(context, this.#setting, delta.model ?? ""), ...end, output };
    this.#keep(response, items);
    return { json: JSON.stringify(response) };
  }

  /** As of chat completions. */
  error({ message, type, param, code }: Parameters<Exchange["error"]>[0]): string {
    return JSON.stringify({ error: { message, type, param, code } });
  }

  events(context: AnswerContext): AnswerEvents {
    return new ResponsesEvents(context, { ...this.#setting, onWhole: (response, items) => this.#keep(response, items) });
  }

  headers() {
    return {};
  }

  #before(previous: unknown): readonly Json[] {
    if (previous === undefined || previous === null) return [];
    const refused = (why: string): NotCarried => new NotCarried("previous_response_id", `\`previous_response_id\` ${why}`);
    if (this.#store === null)
      throw refused("is not supported: this gateway keeps no responses, so give the whole conversation in `input`.");
    const found = typeof previous === "string" ? this.#store.find(previous, this.#owner()) : null;
    if (found === null) throw refused("names no response that is kept: it has expired, or was not stored.");
    return found.conversation;
  }

  #keep(response: Json, items: readonly OutputItem[]): void {
    if (!this.#setting.isStored || this.#store === null) return;
    const said = itemsMessage(items);
    const conversation = said === null ? this.#conversation : [...this.#conversation, said];
    this.#store.keep(String(response.id), this.#owner(), { response, conversation });
  }
}
