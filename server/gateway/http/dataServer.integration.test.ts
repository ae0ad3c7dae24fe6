import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Serving } from "../serving/serving";
import { heldEngine, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, until } from "../testing/testGateway";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const body = JSON.stringify({ model: "large", messages: [{ role: "user", content: "2 + 2" }] });
const requestText = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A bare connection to the data port, and the data received on it. */
function connectTo(dataUrl: string) {
  const socket = connect(Number(new URL(dataUrl).port), "127.0.0.1");
  socket.on("error", () => undefined);
  const came = { text: "", closed: false };
  socket.on("data", (chunk) => {
    came.text += String(chunk);
  });
  socket.on("close", () => {
    came.closed = true;
  });
  return { socket, came };
}

describe("a connection opened for later", () => {
  it("is closed when no request comes on it", async () => {
    const gateway = await startTestGateway({ arrivalSeconds: 0.1, idleSeconds: 0.1 });
    const { came } = connectTo(gateway.dataUrl);
    await until(() => came.closed);
    expect(came.text).toBe("");
  });

  it("has the time of any other once a request has come on it", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ arrivalSeconds: 0.1, idleSeconds: 1 });
    await gateway.put(oneModel([engine.url]));
    const { socket, came } = connectTo(gateway.dataUrl);
    // Long enough to count as silent.
    await sleep(400);
    socket.write(requestText);
    await until(() => engine.asked.length === 1);
    await sleep(1500);
    expect(came).toEqual({ text: "", closed: false });
    engine.open();
    await until(() => came.text.includes("late"));
    expect(came.text).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

describe("headers that are too long", () => {
  it("are refused as that", async () => {
    const gateway = await startTestGateway();
    const { socket, came } = connectTo(gateway.dataUrl);
    socket.write(`GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-weir-router-scores: ${"a=1,".repeat(5000)}\r\n\r\n`);
    await once(socket, "close");
    expect(came.text).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[\s\S]*"code":"headers_too_large"/);
  });
});

describe("an answer that comes before the body is read", () => {
  const head = (length: string) => `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\n${length}\r\n\r\n`;

  it.each([
    ["of 10 MB", "content-length: 10485760"],
    ["of unknown length", "transfer-encoding: chunked"],
  ])("tells the sender of a body %s that the connection ends, and ends it once the answer could be read", async (_, length) => {
    const gateway = await startTestGateway();
    const { socket, came } = connectTo(gateway.dataUrl);
    socket.write(head(length));
    await until(() => came.text.includes("unsupported_media_type"));
    expect(came.text.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(came.closed).toBe(false);
    await until(() => came.closed);
  });

  it.each([
    ["a short body", `${head("content-length: 2")}{}`],
    ["no body", "GET /nothing HTTP/1.1\r\nhost: localhost\r\n\r\n"],
  ])("keeps the connection of a request with %s", async (_, text) => {
    const gateway = await startTestGateway();
    const { socket, came } = connectTo(gateway.dataUrl);
    for (const times of [1, 2]) {
      socket.write(text);
      await until(() => came.text.split('"error"').length === times + 1);
    }
    expect(came.text.toLowerCase()).not.toContain("connection: close");
    socket.destroy();
  });
});

/** A log and its lines. */
function readLog() {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}

describe("the log", () => {
  it("says of a failed request which it was and why, and nothing of its prompt", async () => {
    const { log, lines } = readLog();
    const engine = await startTestEngine((_, response) => response.writeHead(500).end());
    const gateway = await startTestGateway({}, { log });
    await gateway.put({ ...oneModel([engine.url]), settings: { recordedPromptCharacters: 100 } });
    await gateway.chat({ messages: [{ role: "user", content: "a secret of mine" }] });
    const [decision] = await gateway.decisions();
    expect(decision?.prompt).toContain("a secret of mine");
    const line = lines.find((text) => text.includes("request failed"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ id: decision?.id, status: 502, reason: decision?.reason });
    expect(lines.join("")).not.toContain("a secret");
  });

  it("says where the gateway's own error came from, of which the client is told nothing", async () => {
    const { log, lines } = readLog();
    const gateway = await startTestGateway({}, { log });
    await gateway.put(oneModel(["http://127.0.0.1:9"]));
    const broken = vi.spyOn(Serving.prototype, "serverOf").mockImplementation(() => {
      throw new Error("a bug");
    });
    onTestFinished(() => broken.mockRestore());
    const answer = await gateway.chat({});
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("a bug")]);
    const { err } = JSON.parse(lines.find((text) => text.includes("a bug of the gateway")) ?? "{}");
    expect(err).toMatchObject({ message: "a bug", stack: expect.stringContaining("dataServer.integration.test") });
  });
});
