import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { close, listen } from "./testHttp";

export interface TestEngine {
  /** Passes a request on to the engine, as Serve's proxy does to a replica. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): void;
  close(): Promise<void>;
}

/** A small OpenAI-compatible server of one model. */
export async function startTestEngine(model: string): Promise<TestEngine> {
  const server = createServer((request, response) => {
    const json = (body: object) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    request.resume().on("end", () => {
      if (request.url === "/health") return response.end();
      if (request.url === "/v1/models") return json({ object: "list", data: [{ id: model, object: "model" }] });
      if (request.url !== "/v1/chat/completions") return response.writeHead(404).end();
      return json({
        ...{ id: "1", object: "chat.completion", created: 1, model },
        choices: [{ index: 0, message: { role: "assistant", content: "one" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      });
    });
  });
  const port = await listen(server);
  return {
    serve(request, response, path) {
      const { method, headers } = request;
      const onward = ask({ port, host: "127.0.0.1", path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on("error", () => response.writeHead(503).end());
      request.pipe(onward);
    },
    close: () => close(server),
  };
}
