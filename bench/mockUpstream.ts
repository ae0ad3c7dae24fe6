import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";

/**
 * A foreign mock for the gateway benchmarks, run as a process of its own: engine and judge in one, answering every request at
 * once with canned bytes from a bare TCP server, so that as little as possible of the machine goes to the mock. Two judge
 * calls in five give a score below the threshold of 50, so a cascade of two stages makes 2.4 upstream calls a request.
 * Prints its address when it listens and ends when its parent closes its standard input.
 */
const headEnd = Buffer.from("\r\n\r\n");
const judgeModel = Buffer.from('"weir-judge"');
const scores = ["90", "10", "90", "10", "90"];

function reply(content: string): Buffer {
  const body = JSON.stringify({
    id: "chatcmpl-mock",
    object: "chat.completion",
    created: 0,
    model: "mock",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 },
  });
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

const answer = reply("water runs over the weir ".repeat(20));
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
      const asksJudge = received.subarray(head, end).includes(judgeModel);
      socket.write((asksJudge ? judgements[judged++ % judgements.length] : answer) ?? answer);
      received = received.subarray(end);
    }
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
