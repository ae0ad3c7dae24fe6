import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request to a test engine. */
export interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage["headers"];
  /** Resolves when the connection of this request closed before the answer was complete. */
  readonly cutOff: Promise<void>;
}

export interface TestEngine {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Its answers to GETs, by path; `/health` succeeds, and everything that is not listed here is not found. */
  readonly pages: Map<string, (response: ServerResponse) => unknown>;
  close(): Promise<void>;
}

export type Answer = (asked: Asked, response: ServerResponse) => unknown;

/** A small server on loopback that speaks the engine's side of the OpenAI API; `answer` answers a request. Closed when the test ends. */
export async function startTestEngine(answer: Answer, port = 0): Promise<TestEngine> {
  const asked: Asked[] = [];
  const pages: TestEngine["pages"] = new Map([["/health", (response) => response.writeHead(200).end()]]);
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      const page = pages.get(request.url ?? "");
      if (page === undefined) response.writeHead(404).end();
      else page(response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const cutOff = new Promise<void>((resolve) => response.once("close", () => !response.writableFinished && resolve()));
      const body: Record<string, unknown> = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const entry = { path: request.url ?? "", body, headers: request.headers, cutOff };
      asked.push(entry);
      answer(entry, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, pages, close };
}

/** An engine that holds every request until `open` is called, then answers all, also later ones. */
export async function heldEngine() {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const engine = await startTestEngine((_, response) => {
    if (isOpen) sayCompletion(response, "late");
    else held.push(response);
  });
  return {
    ...engine,
    open() {
      isOpen = true;
      for (const response of held.splice(0)) sayCompletion(response, "late");
    },
  };
}

/** Answers with one whole completion. */
export function sayCompletion(response: ServerResponse, text: string, model = "engine-model"): void {
  response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop", logprobs: null }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    }),
  );
}

/** Answers with one whole completion of the older endpoint. */
export function sayText(response: ServerResponse, text: string, model = "engine-model"): void {
  const choices = [{ index: 0, text, logprobs: null, finish_reason: "length" }];
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ id: "cmpl-1", object: "text_completion", created: 1, model, choices, usage }));
}

/** One event of a stream with a delta, as vLLM sends it. */
export function streamEvent(delta: Record<string, unknown>, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "engine-model", choices })}\n\n`;
}
