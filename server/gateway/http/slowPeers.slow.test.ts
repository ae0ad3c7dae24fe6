import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { type Answer, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, until } from "../testing/testGateway";

const eventStream = { "content-type": "text/event-stream" };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const whole = `${streamEvent({ content: "whole" }, "stop")}data: [DONE]\n\n`;

describe("clients that send slowly", () => {
  it("are told so and cut off when their headers do not come in time", async () => {
    const gateway = await startTestGateway({ arrivalSeconds: 0.1 });
    const socket = connect(Number(new URL(gateway.dataUrl).port), "127.0.0.1");
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n");
    const trickle = setInterval(() => socket.write("x: y\r\n"), 20);
    socket.on("error", () => undefined);
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    await once(socket, "close");
    clearInterval(trickle);
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\ncontent-type: application\/json/);
    expect(text).toContain('"code":"slow_request"');
  });

  it("are told so when their body does not come in time, and counted", async () => {
    const gateway = await startTestGateway({ arrivalSeconds: 0.1 });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "1000" },
    });
    request.on("error", () => undefined);
    const trickle = setInterval(() => request.write("x"), 20);
    const [response] = await once(request, "response");
    clearInterval(trickle);
    let text = "";
    for await (const chunk of response) text += String(chunk);
    expect([response.statusCode, JSON.parse(text).error.code]).toEqual([408, "slow_body"]);
    expect(await (await fetch(`${gateway.adminUrl}/status`)).json()).toMatchObject({ refused: 1 });
    request.destroy();
  });

  it("hold up nobody with five hundred connections, and are told so one by one", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const gateway = await startTestGateway({ arrivalSeconds: 3 });
    await gateway.put(oneModel([engine.url]));
    const slow = Array.from({ length: 500 }, async () => {
      const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "content-length": "1000000" },
      });
      request.on("error", () => undefined);
      const trickle = setInterval(() => request.write("{"), 1000);
      const [response] = await once(request, "response");
      clearInterval(trickle);
      response.resume();
      request.destroy();
      return response.statusCode;
    });
    for (let served = 0; served < 50; served += 1) expect((await gateway.chat({})).status).toBe(200);
    expect(new Set(await Promise.all(slow))).toEqual(new Set([408]));
  });

  it("lose that time to nobody but themselves: what is measured begins with the last of the body", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const body = JSON.stringify({ model: "large", messages: [{ role: "user", content: "2 + 2" }] });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": body.length },
    });
    request.write(body.slice(0, 10));
    await sleep(1500);
    request.end(body.slice(10));
    const [response] = await once(request, "response");
    response.resume();
    expect(Number(response.headers["x-weir-overhead-ms"])).toBeLessThan(1000);
    const [decision] = await gateway.decisions();
    expect(decision?.endToEndSeconds).toBeLessThan(1);
  });

  it("that speak no HTTP get an error object", async () => {
    const gateway = await startTestGateway();
    const socket = connect(Number(new URL(gateway.dataUrl).port), "127.0.0.1");
    socket.end("good day\r\n\r\n");
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"code":"bad_request"/);
  });
});

describe("a client that stops reading", () => {
  it("is cut off after a while, and its engine's place is free", async () => {
    const big = streamEvent({ content: "x".repeat(20_000) });
    const engine = await startTestEngine(async (_, response) => {
      response.writeHead(200, eventStream);
      while (!response.destroyed) if (!response.write(big)) await once(response, "drain");
    });
    const gateway = await startTestGateway({ clientStallSeconds: 0.2 });
    await gateway.put(oneModel([engine.url], 1));
    const body = JSON.stringify({ model: "large", stream: true, messages: [{ role: "user", content: "much" }] });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    }).end(body);
    request.on("error", () => undefined);
    const [response] = await once(request, "response");
    response.on("error", () => undefined);
    await engine.asked[0]?.cutOff;
    await until(async () => (await gateway.decisions()).length === 1);
    const [decision] = await gateway.decisions();
    expect([decision?.status, decision?.reason]).toEqual([499, "The client disconnected or stopped reading."]);
    expect(await (await fetch(`${gateway.adminUrl}/status`)).json()).toMatchObject({ replicas: [{ inFlight: 0 }] });
  });

  /** The outcome of a whole answer of 60 MB if the client pauses `pauseMs` before each `readBytes`. */
  async function readWhole({ pauseMs, readBytes }: { pauseMs: number; readBytes: number }) {
    const text = "x".repeat(60_000_000);
    const engine = await startTestEngine((_, response) => sayCompletion(response, text));
    const gateway = await startTestGateway({ clientStallSeconds: 1 });
    await gateway.put(oneModel([engine.url]));
    const body = JSON.stringify({ model: "large", messages: [{ role: "user", content: "much" }] });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    }).end(body);
    request.on("error", () => undefined);
    const [response] = await once(request, "response");
    let [bytes, unread] = [0, readBytes];
    try {
      await sleep(pauseMs);
      for await (const chunk of response) {
        bytes += chunk.length;
        unread -= chunk.length;
        if (unread > 0) continue;
        await sleep(pauseMs);
        unread = readBytes;
      }
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
    return bytes === Number(response.headers["content-length"]);
  }

  it("is cut off where its answer is whole too", async () => {
    expect(await readWhole({ pauseMs: 3000, readBytes: Number.POSITIVE_INFINITY })).toBe("ECONNRESET");
  });

  it("for a while only is not cut off, however long the whole takes", async () => {
    expect(await readWhole({ pauseMs: 100, readBytes: 3_000_000 })).toBe(true);
  });
});

describe("engines that fall silent", () => {
  /** An engine that says `first` and then nothing to the first request, and answers the next ones whole. */
  async function silentAfter(first: string) {
    const answer: Answer = (_, response) => {
      response.writeHead(200, eventStream);
      if (engine.asked.length > 1) response.end(whole);
      else if (first !== "") response.write(first);
    };
    const engine = await startTestEngine(answer);
    const gateway = await startTestGateway({ streamSilenceSeconds: 0.5 });
    await gateway.put(oneModel([engine.url]));
    return { ...gateway, engine };
  }

  it.each([
    ["at once", ""],
    ["after a role", streamEvent({ role: "assistant", content: "" })],
  ])("%s lose the request to another attempt", async (_, first) => {
    const { chat, decisions, engine } = await silentAfter(first);
    expect(await (await chat({ stream: true })).text()).toBe(whole);
    await engine.asked[0]?.cutOff;
    expect((await decisions())[0]?.stages.map(({ verdict }) => verdict)).toEqual(["failed", "accepted"]);
  });

  it("after the first token end the stream with an error", async () => {
    const { chat, decisions, engine } = await silentAfter(streamEvent({ content: "half" }));
    const text = await (await chat({ stream: true })).text();
    expect(text).toMatch(
      /half[\s\S]*"message":"The engine failed while it was answering: nothing came for 0.5 s[\s\S]*"code":"engine_failed"/,
    );
    await engine.asked[0]?.cutOff;
    expect((await decisions())[0]?.status).toBe(502);
  });

  it("are not suspected while it is the client that reads slowly", async () => {
    const chunks = 1500;
    const big = streamEvent({ content: "x".repeat(20_000) });
    const engine = await startTestEngine(async (_, response) => {
      response.writeHead(200, eventStream);
      for (let written = 0; written < chunks; written += 1) if (!response.write(big)) await once(response, "drain");
      response.end(whole);
    });
    const gateway = await startTestGateway({ streamSilenceSeconds: 1 });
    await gateway.put(oneModel([engine.url]));
    const body = JSON.stringify({ model: "large", stream: true, messages: [{ role: "user", content: "much" }] });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    }).end(body);
    const [response] = await once(request, "response");
    await sleep(2000);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(bytes).toBe(chunks * big.length + whole.length);
  });
});

describe("engines that answer nonsense", () => {
  it.each<[string, Answer]>([
    ["no JSON", (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("<html>")],
    ["a list", (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("[1]")],
    ["nothing", (_, response) => response.writeHead(200).end()],
    ["an event stream without an event", (_, response) => response.writeHead(200, eventStream).end("garbage\n\n")],
  ])("such as %s are passed over for another, whether streamed or not", async (_, nonsense) => {
    const broken = await startTestEngine(nonsense);
    const sound = await startTestEngine(({ body }, response) => {
      if (body.stream === true) response.writeHead(200, eventStream).end(whole);
      else sayCompletion(response, "whole");
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([broken.url, sound.url]));
    for (const stream of [true, false]) {
      const answer = await gateway.chat({ stream });
      expect([answer.status, (await answer.text()).includes("whole")]).toEqual([200, true]);
    }
    expect(broken.asked.length).toBeGreaterThan(0);
  });

  it("alone make an error that says so", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(200).end("<html>"));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const answer = await gateway.chat({});
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect([answer.status, error.code]).toEqual([502, "engine_failed"]);
    expect(error.message).toBe("large failed 3 times, last on large-0: the engine's answer is not a completion.");
  });

  it("in a stream that stops short of its end are told to the client", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(200, eventStream).end(streamEvent({ content: "half" })));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const text = await (await gateway.chat({ stream: true })).text();
    expect(text).toMatch(/half[\s\S]*the stream ended without \[DONE\]/);
    expect((await gateway.decisions())[0]).toMatchObject({ status: 502, stages: [{ verdict: "failed" }] });
  });
});
