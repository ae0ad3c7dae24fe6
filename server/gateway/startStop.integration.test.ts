import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { startGateway } from "./gateway";
import { sayCompletion, startTestEngine, streamEvent } from "./testing/testEngine";
import { startTestGateway, temporaryDirectory, testConfig } from "./testing/testGateway";

describe("starting and stopping", () => {
  it("says in a sentence that a port is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const log = pino({ level: "silent" });
    const options = { dataPort: port, adminPort: 0, stateDirectory: await temporaryDirectory(), adminToken: null, studio: null, log };
    await expect(startGateway(options)).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
    other.close();
  });

  it("serves on where the lines of its audit cannot be read", async () => {
    const stateDirectory = await temporaryDirectory();
    const engine = await startTestEngine((_, response) => sayCompletion(response, "still here"));
    const first = await startTestGateway({}, { stateDirectory });
    await first.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    await first.close();
    await rm(join(stateDirectory, "audit.jsonl"));
    await mkdir(join(stateDirectory, "audit.jsonl"));
    const second = await startTestGateway({}, { stateDirectory });
    expect((await second.chat({})).status).toBe(200);
  });

  it("finishes what is in flight before it ends", async () => {
    const engine = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "done"), 100));
    const gateway = await startTestGateway({ drainSeconds: 5 });
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    const answer = gateway.chat({});
    while (engine.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const cut = await gateway.close();
    expect([(await answer).status, cut]).toEqual([200, 0]);
    await expect(fetch(`${gateway.dataUrl}/health`)).rejects.toThrow();
  });

  it("answers what is still in flight when the drain time is over: plain requests, streams, and those still arriving", async () => {
    const engine = await startTestEngine(({ body }, response) => {
      if (body.stream) response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ content: "half" }));
    });
    const gateway = await startTestGateway({ drainSeconds: 0.05 });
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    const [plain, stream] = [gateway.chat({}), gateway.chat({ stream: true })];
    const arriving = request(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "100" },
    });
    arriving.on("error", () => undefined).write("{");
    const arrived = once(arriving, "response");
    while (engine.asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await stream;
    expect(await gateway.close()).toBe(3);
    const answer = await plain;
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([503, "shutting_down"]);
    const text = await (await stream).text();
    expect(text).toContain("half");
    expect(text).toMatch(/data: \{"error":\{"message":"The gateway was shut down[^\n]*"shutting_down"\}\}\n\n$/);
    expect((await arrived)[0].statusCode).toBe(503);
    await Promise.all(engine.asked.map(({ cutOff }) => cutOff));
  });
});
