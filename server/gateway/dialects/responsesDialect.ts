import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { carriedOr, NotCarried } from "./bodyFields";
import { chatDelta } from "./chatDelta";
import type { AnswerContext, AnswerEvents, Exchange } from "./dialect";
import type { Continued, ResponseStore } from "./responseStore";
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
   * @param owner the SHA-256 of the API key that it belongs to, once it is known; null if it has none.
   */
  constructor(store: ResponseStore | null, owner: () => string | null) {
    this.#store = store;
    this.#owner = owner;
  }

  chatBody(client: Json, raw: () => string) {
    return carriedOr(() => {
      const before = this.#before(client.previous_response_id, raw);
      const { input, byteLength } = this.#withItems(client.input, raw);
      const translated = responsesRequest({ ...client, input }, before?.conversation ?? []);
      this.#setting = { client, isStored: this.#store !== null && client.store !== false };
      this.#conversation = translated.conversation;
      return { ...translated, addedBytes: (before?.byteLength ?? 0) + byteLength };
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

  /** The conversation that a body continues; null if it begins one. */
  #before(previous: unknown, raw: () => string): Continued | null {
    if (previous === undefined || previous === null) return null;
    const refused = (why: string): NotCarried => new NotCarried("previous_response_id", `\`previous_response_id\` ${why}`);
    if (this.#store === null)
      throw refused("is not supported: this gateway keeps no responses, so give the whole conversation in `input`.");
    const found = typeof previous === "string" ? this.#store.continued(previous, this.#owner(), raw()) : null;
    if (found === null) throw refused("names no response that is kept: it has expired, or was not stored.");
    if (found === "too-large") throw refused("names a conversation that is, with this body, more than one body may be: begin another.");
    return found;
  }

  /** The input with the items of kept responses in the place of references to them, and the size of their JSON. */
  #withItems(input: unknown, raw: () => string): { readonly input: unknown; readonly byteLength: number } {
    const references = Array.isArray(input) ? [...input.entries()].filter(([, item]) => isReference(item)) : [];
    const [first] = references;
    if (!Array.isArray(input) || first === undefined) return { input, byteLength: 0 };
    const refused = (at: number, why: string): NotCarried => new NotCarried(`input.${at}`, `\`input.${at}\` ${why}`);
    if (this.#store === null)
      throw refused(
        first[0],
        "refers to an item, but this gateway keeps no responses: give the item itself, as clients do with `store` false.",
      );
    const found = this.#store.items(
      references.map(([, { id }]) => String(id)),
      this.#owner(),
      raw(),
    );
    if (found === "too-large") throw refused(first[0], "refers to items that are, with this body, more than one body may be.");
    for (const [at, { id }] of references)
      if (!found.items.has(String(id))) throw refused(at, "refers to no item that is kept: it has expired, or was not stored.");
    return { input: input.map((item) => (isReference(item) ? found.items.get(String(item.id)) : item)), byteLength: found.byteLength };
  }

  #keep(response: Json, items: readonly OutputItem[]): void {
    if (!this.#setting.isStored || this.#store === null) return;
    const said = itemsMessage(items);
    const conversation = said === null ? this.#conversation : [...this.#conversation, said];
    this.#store.keep(String(response.id), this.#owner(), { response, conversation });
  }
}

const isReference = (item: unknown): item is Json => isRecord(item) && item.type === "item_reference";
