import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";

/**
 * An independent mock for the gateway benchmarks, run as a separate process: engine and judge in one, answering every request at
 * once with canned bytes, also whole streams, from a bare TCP server, so that the mock uses as little as possible of the machine. Two judge
 * calls in five give a score below the threshold of 50, so a cascade of two stages makes 2.4 upstream calls per request. A stream for the user
 * `paced` comes an event at a time.
 * Prints its address when it listens and ends when its parent closes its standard input.
 */
const headEnd = Buffer.from("\r\n\r\n");
const asksStream = Buffer.from('"stream":true');
const asksPaced = Buffer.from('"user":"paced"');
const pacedMs = 50;
const tokensAStream = 40;
const judgeModel = Buffer.from('"weir-judge"');
const scores = ["90", "10", "90", "10", "90"];

function http(contentType: string, body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function reply(content: string): Buffer {
  const body = JSON.stringify({
    id: "chatcmpl-mock",
    object: "chat.completion",
    created: 0,
    model: "mock",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 },
  });
  return http("application/json", body);
}

function events(): readonly string[] {
  const event = (delta: object, finishReason: string | null): string =>
    `data: ${JSON.stringify({ id: "chatcmpl-mock", object: "chat.completion.chunk", created: 0, model: "mock", choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
  const tokens = Array.from({ length: tokensAStream }, () => event({ content: " water" }, null));
  return [event({ role: "assistant" }, null), ...tokens, event({}, "stop"), "data: [DONE]\n\n"];
}

const eventStream = "text/event-stream";

/** Writes the events one after the other. */
function pace(socket: Socket): void {
  const chunks = events().map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${eventStream}\r\ntransfer-encoding: chunked\r\n\r\n`);
  const timer = setInterval(() => {
    const next = chunks.shift();
    if (next !== undefined) return void socket.write(next);
    clearInterval(timer);
    socket.write("0\r\n\r\n");
  }, pacedMs);
  socket.once("close", () => clearInterval(timer));
}

const answer = reply("water runs over the weir ".repeat(20));
const stream = http(eventStream, events().join(""));
/** The metrics that a placement by KV use reads. */
const metrics = http("text/plain; version=0.0.4", 'vllm:kv_cache_usage_perc{engine="0",model_name="mock"} 0.5\n');
const isGet = Buffer.from("GET ");
const judgements = scores.map(reply);
let judged = 0;

function serve(socket: Socket): void {
  let received: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const head = received.indexOf(headEnd);
      if (head < 0) return;
      const bodyLength = Number(/content-length: (\d+)/i.exec(received.toString("latin1", 0, head))?.[1] ?? 0);
      const end = head + headEnd.length + bodyLength;
      if (received.length < end) return;
      if (received.subarray(head, end).includes(asksPaced)) pace(socket);
      else socket.write(replyTo(received, head, end));
      received = received.subarray(end);
    }
  });
}

function replyTo(received: Buffer, head: number, end: number): Buffer {
  if (received.indexOf(isGet) === 0) return metrics;
  const body = received.subarray(head, end);
  if (body.includes(judgeModel)) return judgements[judged++ % judgements.length] ?? answer;
  return body.includes(asksStream) ? stream : answer;
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
