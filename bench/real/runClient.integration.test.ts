import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientTask } from "./clientTask";
import { measuredFigures } from "./figures";
import { runClient } from "./runClient";

const gapMs = 60;
const usage = { prompt_tokens: 5, completion_tokens: 3 };

/** Streams three tokens with gaps, or answers whole as Weir's gateway does; fails what asks for it. */
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (body.includes("fail")) response.writeHead(503).end('{"error":{"message":"busy"}}');
  else if (request.url === "/v1/completions") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of ["a", "b", "c"]) {
      await sleep(gapMs);
      response.write(`data: ${JSON.stringify({ choices: [{ text }] })}\n\n`);
    }
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  } else response.writeHead(200, { "x-weir-model": "arith-large" }).end('{"choices":[]}');
});
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const taskOf = (of: Pick<ClientTask, "path" | "streamed">, bodies: readonly string[]): ClientTask => ({
  ...{ url, warmUp: 1, inFlight: null, seconds: 2, ...of },
  requests: bodies.map((body, index) => ({ atSeconds: 0.1 * index, body, outputTokens: 3 })),
});

test("the client times the first and the last token of a stream, counts its tokens, and keeps why one failed", async () => {
  const { answers, unanswered } = await runClient(taskOf({ path: "/v1/completions", streamed: true }, ["1", "2", "fail"]), null);
  const sorted = [...answers].sort((a, b) => a.index - b.index);
  expect(unanswered).toBe(0);
  for (const { firstSeconds, endSeconds, status, inputTokens, outputTokens } of sorted.slice(0, 2)) {
    expect({ status, inputTokens, outputTokens }).toEqual({ status: 200, inputTokens: 5, outputTokens: 3 });
    expect(firstSeconds).toBeGreaterThan((0.8 * gapMs) / 1000);
    expect(endSeconds - (firstSeconds ?? 0)).toBeGreaterThan((1.6 * gapMs) / 1000);
  }
  expect(sorted[2]).toMatchObject({ status: 0, firstSeconds: null });
  expect(sorted[2]?.text).toContain("503");
  expect(measuredFigures({ answers, unanswered }, [], true)).toMatchObject({ requests: 2, failed: 1, outputTokens: 6 });
});

test("the client keeps a whole answer and the model that gave it", async () => {
  const { answers } = await runClient(taskOf({ path: "/v1/chat/completions", streamed: false }, ["1", "fail"]), null);
  const sorted = [...answers].sort((a, b) => a.index - b.index);
  expect(sorted[0]).toMatchObject({ status: 200, answeredBy: "arith-large", text: '{"choices":[]}', firstSeconds: null });
  expect(sorted[1]?.status).toBe(503);
});
