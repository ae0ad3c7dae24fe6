import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { ServerCertificate } from "@/server/contracts/testing/testCertificates";

/** Options of a test engine; they can be changed while it runs. */
export interface TestEndpointOptions {
  models?: readonly string[];
  /** Required key under `/v1`. */
  key?: string;
  /** Text or JSON of further paths. */
  pages?: Readonly<Record<string, unknown>>;
  healthy?: boolean;
  /** `/health` is not found. */
  withoutHealth?: boolean;
  tls?: ServerCertificate;
  /** Duration of an answer to a POST. */
  answerMs?: number;
}

export interface TestEndpoint {
  readonly url: string;
  readonly is: TestEndpointOptions;
  /** The requests with a body, each with its `authorization`. */
  readonly asked: { readonly model: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A real server on loopback with the required part of vLLM's API. */
export async function startTestEndpoint(is: TestEndpointOptions = {}): Promise<TestEndpoint> {
  const asked: TestEndpoint["asked"] = [];
  const answer: RequestListener = async (request, response) => {
    const path = request.url ?? "";
    const json = (value: unknown, status = 200): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const { authorization } = request.headers;
    const { models = ["small"], key, pages = {}, healthy = true } = is;
    if (path.startsWith("/v1/") && key !== undefined && authorization !== `Bearer ${key}`)
      return json({ error: `no ${authorization}` }, 401);
    if (request.method === "POST") {
      const body = JSON.parse(await bodyOf(request)) as { model: string; stream?: boolean };
      asked.push({ model: body.model, authorization });
      if (!models.includes(body.model)) return json({ error: "no such model" }, 404);
      return setTimeout(() => complete(response, body), is.answerMs ?? 0);
    }
    if (path in pages) {
      const page = pages[path];
      return typeof page === "string" ? response.end(page) : json(page);
    }
    if (path === "/health" && !is.withoutHealth) return response.writeHead(healthy ? 200 : 503).end();
    if (path === "/v1/models")
      return json({ object: "list", data: models.map((id) => ({ id, object: "model", root: id, max_model_len: 8192 })) });
    return json({ error: "not found" }, 404);
  };
  const server = is.tls === undefined ? createServer(answer) : createTlsServer({ ...is.tls }, answer);
  const port = await listen(server as Server);
  return {
    url: `${is.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    is,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function complete(response: ServerResponse, { model, stream }: { readonly model: string; readonly stream?: boolean }): void {
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  const whole = { id: "1", object: "chat.completion", created: 1, model, usage };
  if (stream === true) {
    const choices = [{ index: 0, delta: { content: "a" }, finish_reason: "length" }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ ...whole, object: "chat.completion.chunk", choices })}\n\ndata: [DONE]\n\n`);
    return;
  }
  const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "length" }];
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...whole, choices }));
}
