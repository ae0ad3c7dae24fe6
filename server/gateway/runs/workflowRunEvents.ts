import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { WorkflowRunEvent } from "@/server/contracts/gateway/workflowRuns";
import type { Flow } from "../engines/engineCall";
import { eventStreamHeaders } from "../engines/relayStream";
import { StreamWriter } from "../engines/streamWriter";
import type { GatewayLimits } from "../http/limits";

interface EventsOptions {
  readonly limits: Pick<GatewayLimits, "clientStallSeconds" | "heartbeatSeconds">;
  readonly headers: OutgoingHttpHeaders;
}

/** A run is not held back where its client reads slowly: all that it has to tell has its room already. */
const unheld: Flow = { headers: {}, pause: () => undefined, resume: () => undefined, abort: () => undefined };

/** The server-sent events of a run, and comments while nothing happens, so that no proxy takes the connection for a dead one. */
export class RunEvents {
  readonly #response: ServerResponse;
  readonly #writer: StreamWriter;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, { limits, headers }: EventsOptions) {
    this.#response = response;
    this.#writer = new StreamWriter(response, { stallSeconds: limits.clientStallSeconds });
    response.writeHead(200, { ...headers, ...eventStreamHeaders });
    this.#heartbeat = setInterval(() => this.#write(": still running\n\n"), limits.heartbeatSeconds * 1000);
    response.once("close", () => clearInterval(this.#heartbeat));
  }

  tell(event: WorkflowRunEvent): void {
    this.#write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    this.#heartbeat.refresh();
  }

  end(): void {
    clearInterval(this.#heartbeat);
    this.#response.end();
  }

  #write(text: string): void {
    if (!this.#response.destroyed) this.#writer.write(Buffer.from(text), unheld);
  }
}
