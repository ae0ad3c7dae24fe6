import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { eventStreamHeaders } from "../engines/relayStream";
import { type ApiError, errorBody, sendError } from "../http/apiError";
import type { GatewayLimits } from "../http/limits";

interface EnsembleStreamOptions {
  readonly limits: Pick<GatewayLimits, "clientStallSeconds" | "heartbeatSeconds">;
  /** Headers of every answer. */
  readonly headers: OutgoingHttpHeaders;
}

/**
 * The event stream of an ensemble's answer. Nothing is sent before the answer's author is known, unless that takes so long that proxies
 * would end the connection: then the headers are sent with a comment, further comments follow, and the rest of the header values is sent as
 * a comment too.
 */
export class EnsembleStream {
  readonly #response: ServerResponse;
  readonly #options: EnsembleStreamOptions;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, options: EnsembleStreamOptions) {
    this.#response = response;
    this.#options = options;
    this.#heartbeat = setInterval(() => {
      this.#head();
      response.write(": experts are answering\n\n");
    }, options.limits.heartbeatSeconds * 1000);
    response.once("close", () => clearInterval(this.#heartbeat));
  }

  /** Starts the answer. */
  begin(headers: OutgoingHttpHeaders): void {
    clearInterval(this.#heartbeat);
    if (!this.#response.headersSent) {
      this.#head(headers);
      return;
    }
    const lines = Object.entries(headers).map(([name, value]) => `: ${name} ${value}\n`);
    this.#response.write(`${lines.join("")}\n`);
  }

  /** Writes at the client's reading speed, and disconnects a client that reads nothing for too long. */
  async write(text: string): Promise<void> {
    const response = this.#response;
    if (response.destroyed || text === "" || response.write(text)) return;
    const stalled = setTimeout(() => response.destroy(), this.#options.limits.clientStallSeconds * 1000);
    await new Promise<void>((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    });
    clearTimeout(stalled);
  }

  end(text = ""): void {
    if (!this.#response.destroyed) this.#response.end(text);
  }

  /** Sends the error: as the response if nothing has left yet, else as an event. */
  fail(error: ApiError, headers: OutgoingHttpHeaders = {}): void {
    clearInterval(this.#heartbeat);
    if (this.#response.destroyed) return;
    if (this.#response.headersSent) this.end(`data: ${errorBody(error)}\n\n`);
    else sendError(this.#response, error, { ...this.#options.headers, ...headers });
  }

  #head(headers: OutgoingHttpHeaders = {}): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    this.#response.writeHead(200, { ...this.#options.headers, ...headers, ...eventStreamHeaders });
  }
}
