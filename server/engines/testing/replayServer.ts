import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { exchangeOf, type RecordedEngine, type RecordedExchange } from "./recordedEngine";

export interface ReplayServer {
  readonly url: string;
  /** Bodies of the requests to generate, as they came. */
  readonly asked: readonly string[];
  /** All requests with a body are answered with this exchange's answer from now on. */
  answerWith(name: string): RecordedExchange;
}

/** Longest pause between two pieces; recorded ones beyond it add nothing to a test but time. */
const LONGEST_PAUSE_MS = 5;

/**
 * A server on loopback that answers as a recorded engine did: its pages at their paths, the last page of metrics, and one chosen
 * answer to every request with a body, piece by piece. What is not recorded is not found. Closed when the test ends.
 */
export async function startReplay(recorded: RecordedEngine): Promise<ReplayServer> {
  const { exchanges, pages } = recorded;
  const lastPage = pages.at(-1);
  const asked: string[] = [];
  let chosen: RecordedExchange | undefined;
  const server = createServer((request, response) => {
    const { method, url } = request;
    if (method === "GET" && url === "/metrics" && lastPage !== undefined) {
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(lastPage.text);
    } else if (method === "GET") {
      const known = exchanges.find((one) => one.request.method === "GET" && one.request.path === url);
      void replay(known ?? exchanges.find(({ name }) => name === "unknown path"), response);
    } else {
      void textOf(request).then((body) => {
        asked.push(body);
        void replay(chosen, response);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answerWith(name) {
      chosen = exchangeOf(recorded, name);
      return chosen;
    },
  };
}

async function replay(exchange: RecordedExchange | undefined, response: ServerResponse): Promise<void> {
  if (exchange === undefined) return void response.writeHead(404).end();
  const { status, headers, chunks } = exchange.response;
  response.writeHead(status, Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name))));
  response.flushHeaders();
  let last = 0;
  for (const [ms, text] of chunks) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, ms - last)));
    last = ms;
    response.write(text);
  }
  response.end();
}

const hopByHop: ReadonlySet<string> = new Set(["connection", "transfer-encoding", "keep-alive"]);

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
