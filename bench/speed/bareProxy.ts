import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { judgeCallBody } from "@/solver/judging/judgeCall";

/**
 * What a gateway on Node costs at the least, run as a separate process: a proxy of `node:http` and undici that keeps connections alive, streams
 * bodies both ways and knows nothing of models. With `cascade` as its second argument it asks the model `small`, has the answer judged, and asks
 * `large` where the score is below 50: the upstream calls of a cascade without anything else.
 * Arguments: the upstream's address, and `cascade` or nothing. Prints its address when it listens and ends when its parent closes its standard
 * input.
 */
const [upstream = "", kind = ""] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 256, headersTimeout: 0, bodyTimeout: 0 });
const path = "/v1/chat/completions";
const ownHeaders = new Set(["host", "connection", "keep-alive", "transfer-encoding"]);
const threshold = 50;

function passOn(request: IncomingMessage, response: ServerResponse): void {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !ownHeaders.has(name)));
  const options = { method: request.method ?? "GET", path: request.url ?? "/", headers, body: request };
  pool.stream(options, ({ statusCode, headers: answered }) => response.writeHead(statusCode, answered)).catch(() => response.destroy());
}

async function ask(body: string): Promise<Buffer> {
  const answer = await pool.request({ method: "POST", path, headers: { "content-type": "application/json" }, body });
  return Buffer.from(await answer.body.arrayBuffer());
}

const contentOf = (answer: Buffer): string => JSON.parse(answer.toString("utf8")).choices[0].message.content;

async function cascade(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  let answer = await ask(JSON.stringify({ ...body, model: "small" }));
  const question = `${body.messages[0].content}\n\n${contentOf(answer)}`;
  const score = Number(contentOf(await ask(JSON.stringify(judgeCallBody("weir-judge", question)))));
  if (score < threshold) answer = await ask(JSON.stringify({ ...body, model: "large" }));
  response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
}

const server = createServer((request, response) => {
  if (kind === "cascade") cascade(request, response).catch(() => response.destroy());
  else passOn(request, response);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
