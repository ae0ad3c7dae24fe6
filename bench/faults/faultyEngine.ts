import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * An engine that is up and misbehaves, run as a separate process: of every sixteen requests nine are answered, and one each gets 500, 429,
 * a page that is no completion, a cut connection, no answer at all, a stream cut in the middle and a stream without an end.
 * Prints its address when it listens and ends when its parent closes its standard input.
 */
const tokens = 40;
const tokenMs = 5;
const period = 16;

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-faulty", object: "chat.completion.chunk", created: 1, model: "faulty", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const completion = JSON.stringify({
  id: "chatcmpl-faulty",
  object: "chat.completion",
  created: 1,
  model: "faulty",
  choices: [{ index: 0, message: { role: "assistant", content: "water ".repeat(tokens) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 50, completion_tokens: tokens, total_tokens: 50 + tokens },
});

let asked = 0;

function answer(response: ServerResponse, stream: boolean): void {
  asked += 1;
  const fault = asked % period;
  if (fault === 0) return void response.writeHead(500, { "content-type": "application/json" }).end("{}");
  if (fault === 3) return void response.writeHead(429, { "content-type": "application/json" }).end("{}");
  if (fault === 5) return void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
  if (fault === 7) return void response.destroy();
  if (fault === 9) return;
  if (stream) writeStream(response, fault === 11 ? "cut" : fault === 13 ? "no end" : "whole");
  else setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(completion), tokens * tokenMs);
}

function writeStream(response: ServerResponse, how: "whole" | "cut" | "no end"): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let written = 0;
  const timer = setInterval(() => {
    written += 1;
    response.write(chunk(" water"));
    if (written < (how === "whole" ? tokens : tokens / 2)) return;
    clearInterval(timer);
    if (how === "cut") response.destroy();
    else response.end(how === "whole" ? "data: [DONE]\n\n" : undefined);
  }, tokenMs);
  response.on("close", () => clearInterval(timer));
}

const server = createServer((request, response) => {
  if (request.method === "GET") return void response.writeHead(request.url === "/health" ? 200 : 404).end();
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => answer(response, /"stream":\s*true/.test(body)));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
