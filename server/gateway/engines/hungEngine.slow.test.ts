import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";

/** An engine in its own process: answers health checks, streams a token every 20 ms without end, and answers nothing else. */
const engineCode = `
const { createServer } = require("node:http");
createServer((request, response) => {
  if (request.url === "/health") return response.end();
  request.resume();
  process.stdout.write("asked\\n");
  if (request.headers["x-session-id"] !== "streams") return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  setInterval(() => response.write(${JSON.stringify(streamEvent({ content: "x" }))}), 20);
}).listen(0, "127.0.0.1", function () { process.stdout.write(this.address().port + "\\n"); });
`;

interface EngineProcess {
  readonly process: ChildProcess;
  readonly url: string;
  /** Requests that it has read. */
  asked(): number;
}

async function startEngineProcess(): Promise<EngineProcess> {
  const child = spawn(process.execPath, ["-e", engineCode], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    // SIGKILL also ends a stopped process.
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(() => text.includes("\n"));
  const url = `http://127.0.0.1:${text.split("\n")[0]}`;
  return { process: child, url, asked: () => text.split("asked").length - 1 };
}

const stateOf = async ({ adminUrl }: TestGateway, id: string): Promise<string | undefined> =>
  gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).replicas.find((replica) => replica.id === id)?.state;

const quietSeconds = 0.3;
/** Two health checks of 2 s each after the quiet time; far from the 600 s of a request. */
const noticedSeconds = quietSeconds + 4;

describe("an engine that hangs", () => {
  it("is noticed, its calls go to another engine, and it takes no more until it answers again", async () => {
    const hung = await startEngineProcess();
    const other = await startTestEngine((_, response) => sayCompletion(response, "other"));
    const gateway = await startTestGateway({ quietSeconds });
    await gateway.put(oneModel([hung.url, other.url]));
    const startedMs = performance.now();
    const answers = Array.from({ length: 6 }, () => gateway.chat({}));
    await until(() => hung.asked() === 3);
    hung.process.kill("SIGSTOP");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    const tookSeconds = (performance.now() - startedMs) / 1000;
    expect(tookSeconds).toBeGreaterThan(noticedSeconds - 0.1);
    expect(tookSeconds).toBeLessThan(noticedSeconds + 5);
    const retried = (await gateway.decisions()).filter(({ stages }) => stages.length > 1);
    expect(retried.map(({ stages }) => stages.map(({ replica, verdict }) => [replica, verdict]))).toEqual(
      Array(3).fill([
        ["large-0", "failed"],
        ["large-1", "accepted"],
      ]),
    );
    expect(retried[0]?.stages[0]?.reason).toMatch(
      /^the engine hangs: nothing came from it for \d+ s, and \/health did not answer within 2000 ms$/,
    );
    expect(await stateOf(gateway, "large-0")).toBe("unhealthy");
    expect((await gateway.chat({})).status).toBe(200);
    hung.process.kill("SIGCONT");
    await until(async () => (await stateOf(gateway, "large-0")) === "active");
  });

  it("ends a stream that has begun with an error event", async () => {
    const hung = await startEngineProcess();
    const gateway = await startTestGateway({ quietSeconds });
    await gateway.put(oneModel([hung.url]));
    const streaming = await gateway.chat({ stream: true }, { headers: { "x-session-id": "streams" } });
    const text = streaming.text();
    hung.process.kill("SIGSTOP");
    expect(await text).toMatch(
      /"content":"x".*"message":"The engine failed while it was answering: the engine hangs: .*"code":"engine_failed"/s,
    );
    expect(await stateOf(gateway, "large-0")).toBe("unhealthy");
  });
});

describe("an engine that says nothing for a while", () => {
  it("is left alone while it answers for its health", async () => {
    const engine = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "late"), 1500));
    let health = 0;
    engine.pages.set("/health", (response) => {
      health += 1;
      response.end();
    });
    const gateway = await startTestGateway({ quietSeconds });
    await gateway.put(oneModel([engine.url]));
    expect((await gateway.chat({})).status).toBe(200);
    expect(engine.asked).toHaveLength(1);
    expect(health).toBeGreaterThanOrEqual(2);
    expect(health).toBeLessThanOrEqual(5);
  });

  it("is left alone while it ends and takes no new connection, but finishes what it has", async () => {
    const server = createServer((request, response) => {
      request.resume();
      server.close();
      setTimeout(() => sayCompletion(response, "last"), 1500);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => server.closeAllConnections());
    const gateway = await startTestGateway({ quietSeconds });
    await gateway.put(oneModel([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]));
    expect(await (await gateway.chat({})).text()).toContain("last");
  });

  it("is not asked for its health while it writes, nor while it has nothing to do", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        response.write(streamEvent({ content: "x" }));
        if (sent < 60) return;
        clearInterval(timer);
        response.end("data: [DONE]\n\n");
      }, 40);
    });
    let health = 0;
    engine.pages.set("/health", (response) => {
      health += 1;
      response.end();
    });
    const gateway = await startTestGateway({ quietSeconds: 1 });
    await gateway.put(oneModel([engine.url]));
    expect(await (await gateway.chat({ stream: true })).text()).toContain("[DONE]");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(health).toBe(0);
  });
});
