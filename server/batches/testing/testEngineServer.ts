import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";

/** A question to a test's engine, which waits for the test's command. */
export interface OpenQuestion {
  /** Id of its prompt. */
  readonly id: string;
  answer(): void;
  refuse(status: number, headers?: Readonly<Record<string, string>>): void;
  /** Closes the connection without an answer. */
  drop(): void;
}

const whole = (model: string): string =>
  JSON.stringify({
    ...{ id: "1", object: "chat.completion", created: 1, model },
    choices: [{ index: 0, message: { role: "assistant", content: "Answer: A" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
  });

/**
 * A host whose engines are all one server in this process: `takes` is called for each arriving question, with those in flight, itself
 * included.
 */
export async function testEngineServer(takes: (question: OpenQuestion, underWay: ReadonlyMap<string, OpenQuestion>) => void) {
  const underWay = new Map<string, OpenQuestion>();
  const started: string[] = [];
  let standing: readonly EngineOrder[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of request) text += piece;
    const json = (body: string): unknown => response.writeHead(200, { "content-type": "application/json" }).end(body);
    if (request.url === "/v1/models") {
      const data = standing.map(({ model: id }) => ({ id, object: "model" }));
      return void json(JSON.stringify({ object: "list", data }));
    }
    if (request.url !== "/v1/chat/completions") return void response.end();
    const id = /\[prompt (\w+)\]/.exec(text)?.[1];
    if (id === undefined) return void json(whole("m"));
    const end = (how: () => unknown) => (): void => {
      if (underWay.get(id) === question) underWay.delete(id);
      how();
    };
    const question: OpenQuestion = {
      id,
      answer: end(() => json(whole("m"))),
      refuse: (status, headers = {}) => end(() => response.writeHead(status, headers).end("{}"))(),
      drop: end(() => request.socket.destroy()),
    };
    response.on(
      "close",
      end(() => undefined),
    );
    underWay.set(id, question);
    takes(question, underWay);
  }

  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host: EngineHost = {
    observe: async () => {
      const engines = standing.map((order) => ({ ...order, stopping: false, url }));
      const nodes = [{ name: "node1", gpus: 4 }];
      return { ok: true, value: { gpu: "l40s", nodes, engines, judge: null, outcomes: null, timeScale: 1, deviates: null, dcgmUrls: [] } };
    },
    start: async (order) => {
      started.push(order.id);
      standing = [...standing.filter(({ id }) => id !== order.id), order];
      return { ok: true, value: "started" };
    },
    stop: async (engineId) => {
      standing = standing.filter(({ id }) => id !== engineId);
      return { ok: true, value: "ended" };
    },
  };
  return {
    ...{ host, underWay },
    /** Ids of engines, one for each start. */
    started: started as readonly string[],
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
