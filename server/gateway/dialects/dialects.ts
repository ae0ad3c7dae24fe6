import type { ServerResponse } from "node:http";
import type { JsonLimits } from "@/server/contracts/http/jsonScan";
import { chatEndpoint } from "../http/chatEndpoint";
import type { Endpoint } from "../http/endpoint";
import type { Exchange } from "./dialect";
import { MessagesExchange } from "./messagesDialect";
import { ResponseStore } from "./responseStore";
import { ResponsesExchange } from "./responsesDialect";
import { type StoredRequest, serveStored } from "./storedResponses";
import { TokenCountExchange } from "./tokenCountDialect";
import { translateResponse } from "./translatedResponse";

interface DialectsOptions {
  /** Memory for responses that are kept; 0: none are. */
  readonly storedResponseBytes: number;
  readonly storedResponseSeconds: number;
  /** Bounds of a body, which hold for a conversation that one continues, too. */
  readonly bodyBytes: number;
  readonly bodyJson: JsonLimits;
}

/** Path of Anthropic's API; below it are its further endpoints. */
export const messagesPath = "/v1/messages";
/** Path at which Anthropic's API counts the tokens of a request. */
export const tokenCountPath = `${messagesPath}/count_tokens`;
/** Path of OpenAI's newer API; below it are the stored responses. */
export const responsesPath = "/v1/responses";

/** The APIs of the data port that are translated from and to chat completions. */
export class Dialects {
  /** Null: responses are not kept. */
  readonly #store: ResponseStore | null;

  constructor({ storedResponseBytes: mostBytes, storedResponseSeconds: seconds, bodyBytes, bodyJson }: DialectsOptions) {
    this.#store = mostBytes === 0 ? null : new ResponseStore({ mostBytes, seconds, bodyBytes, bodyJson });
  }

  /**
   * Makes a response speak the API of its path, errors included.
   * @param owner the SHA-256 of the API key, once it is known; null if there is none.
   * @returns the endpoint; null if the path is none of a translated API.
   */
  begin(path: string, response: ServerResponse, owner: () => string | null): Endpoint | null {
    const exchange = this.#exchangeOf(path, owner);
    if (exchange === null) return null;
    let ignored: readonly string[] = [];
    translateResponse(response, exchange, () => ignored);
    return {
      ...chatEndpoint,
      path,
      chatBody(body, text) {
        const translated = exchange.chatBody(body, text);
        if ("ignored" in translated) ignored = translated.ignored;
        return translated;
      },
    };
  }

  /** Answers a request for a stored response. */
  serveStored(stored: StoredRequest): void {
    serveStored(this.#store, stored);
  }

  /** Forgets the stored responses. */
  close(): void {
    this.#store?.close();
  }

  #exchangeOf(path: string, owner: () => string | null): Exchange | null {
    if (path === messagesPath) return new MessagesExchange();
    if (path.startsWith(`${messagesPath}/`)) return new TokenCountExchange();
    return path === responsesPath ? new ResponsesExchange(this.#store, owner) : null;
  }
}
