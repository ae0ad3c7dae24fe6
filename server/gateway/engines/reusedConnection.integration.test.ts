import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { oneModel, startTestGateway } from "../testing/testGateway";

const completion = JSON.stringify({ object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "done" } }] });
/** An answer in uvicorn's form: it does not say how long it keeps the connection. */
const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`;

/** An engine that answers by `onRequest`, which gets the connection and the request's number on it. */
async function startRawEngine(onRequest: (socket: Socket, request: number) => void) {
  const sockets: { readonly closedMs: Promise<number> }[] = [];
  const server = createServer((socket) => {
    sockets.push({ closedMs: new Promise((resolve) => socket.once("close", () => resolve(performance.now()))) });
    let requests = 0;
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (data.includes("GET /health")) return socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      if (!data.includes("POST ")) return undefined;
      requests += 1;
      return onRequest(socket, requests);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

describe("a connection to an engine that is used again", () => {
  it("costs no request when the engine closes it at that moment", async () => {
    const engine = await startRawEngine((socket, request) => {
      if (request === 1) socket.write(answer);
      else socket.destroy();
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    for (let request = 0; request < 4; request += 1) {
      const answered = await gateway.chat({});
      expect([answered.status, await answered.text()]).toEqual([200, completion]);
    }
    const stages = (await gateway.decisions()).map((decision) => decision.stages.map(({ verdict }) => verdict));
    expect(stages[0]).toEqual(["accepted"]);
    expect(stages).toContainEqual(["failed", "accepted"]);
  });

  it("is closed by the gateway before an engine on uvicorn would close it, after 5 s without a request", async () => {
    const engine = await startRawEngine((socket) => socket.write(answer));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    expect((await gateway.chat({})).status).toBe(200);
    const idleMs = performance.now();
    const closedMs = await engine.sockets[0]?.closedMs;
    expect((closedMs ?? 0) - idleMs).toBeGreaterThan(3000);
    expect((closedMs ?? 0) - idleMs).toBeLessThan(4900);
  });
});
