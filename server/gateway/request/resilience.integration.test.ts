import { once } from "node:events";
import { request as httpRequest, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, until } from "../testing/testGateway";

describe("when engines fail", () => {
  it("sends a request to another engine, also while many wait, so that none is lost", async () => {
    const dying = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "a"), 5));
    const healthy = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "b"), 5));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([dying.url, healthy.url], 2));
    const answers = Array.from({ length: 60 }, () => gateway.chat({}));
    await until(() => dying.asked.length >= 4);
    await dying.close();
    const statuses = (await Promise.all(answers)).map((answer) => answer.status);
    expect(statuses).toEqual(Array(60).fill(200));
    const decisions = await gateway.decisions();
    expect(decisions.some(({ stages }) => stages.length > 1 && stages[0]?.verdict === "failed")).toBe(true);
  });

  it("takes an engine back when its health answers again", async () => {
    let healthy = false;
    const engine = await startTestEngine((_, response) => {
      if (healthy) sayCompletion(response, "back");
      else response.writeHead(503).end();
    });
    const gateway = await startTestGateway({ attemptsPerStage: 1 });
    await gateway.put(oneModel([engine.url]));
    expect((await gateway.chat({})).status).toBe(503);
    healthy = true;
    expect((await gateway.chat({})).status).toBe(200);
  });

  it("goes on trying an engine whose health is good though many requests failed there", async () => {
    let calls = 0;
    const engine = await startTestEngine((_, response) => {
      calls += 1;
      if (calls > 6) sayCompletion(response, "at last");
      else response.writeHead(500).end();
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const statuses = [];
    for (let request = 0; request < 3; request += 1) {
      const answer = await gateway.chat({});
      statuses.push(answer.status);
      if (request === 0)
        expect(((await answer.json()) as { error: { message: string } }).error.message).toContain("failed 3 times, last on large-0");
      const accepting = async () => (await (await fetch(`${gateway.adminUrl}/status`)).text()).includes('"active"');
      await until(accepting);
    }
    expect(statuses).toEqual([502, 502, 200]);
  });

  it("refuses what comes while a model is down, and what waited for it, with a time to come again, and serves when an engine is back", async () => {
    const dead = await startTestEngine(() => undefined);
    await dead.close();
    const gateway = await startTestGateway();
    await gateway.put(oneModel([dead.url]));
    const pending = gateway.chat({});
    await until(
      async () => (await gateway.chat({ model: "large" }, { signal: AbortSignal.timeout(100) }).catch(() => null))?.status === 503,
    );
    const refused = await gateway.chat({});
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("no_endpoint");
    const back = await startTestEngine((_, response) => sayCompletion(response, "back"), Number(new URL(dead.url).port));
    const waited = await pending;
    expect([waited.status, Number(waited.headers.get("retry-after")) > 0]).toEqual([503, true]);
    await until(async () => (await gateway.chat({})).status === 200);
    expect(back.asked.length).toBeGreaterThan(0);
  });

  it("passes an engine's refusal of the request itself on without trying again", async () => {
    const engine = await startTestEngine((_, response) =>
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"too long"}}'),
    );
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const answer = await gateway.chat({});
    expect([answer.status, await answer.text()]).toEqual([400, '{"error":{"message":"too long"}}']);
    expect(engine.asked).toHaveLength(1);
  });

  it.each([
    ["closes the connection", (response: ServerResponse) => response.destroy()],
    ["sends an error event", (response: ServerResponse) => response.end('data: {"error":{"message":"engine is dead"}}\n\n')],
  ])("tries another engine when a stream %s before its first token", async (_, fail) => {
    let calls = 0;
    const engine = await startTestEngine((_asked, response) => {
      calls += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ role: "assistant", content: "" }));
      if (calls === 1) setTimeout(() => fail(response), 10);
      else response.end(`${streamEvent({ content: "whole" }, "stop")}data: [DONE]\n\n`);
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const text = await (await gateway.chat({ stream: true })).text();
    expect(text.match(/assistant/g)).toHaveLength(1);
    expect(text).toContain("whole");
    expect(calls).toBe(2);
  });

  it("ends a stream with an error event when the engine fails after the first token", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ content: "half" }));
      setTimeout(() => response.destroy(), 20);
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const text = await (await gateway.chat({ stream: true })).text();
    expect(text).toContain("half");
    expect(text).toContain('"code":"engine_failed"');
    expect(text).not.toContain("[DONE]");
    expect(engine.asked).toHaveLength(1);
    expect((await gateway.decisions())[0]?.status).toBe(502);
  });

  it("records a stream that the engine ends with an error event as failed, and takes the engine out", async () => {
    const errorEvent = 'data: {"error":{"message":"The engine was stopped."}}\n\n';
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ content: "half" }));
      // Its health check fails too, so that no probe brings it back during the test.
      setTimeout(() => response.end(`${errorEvent}data: [DONE]\n\n`, () => void engine.close()), 20);
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const text = await (await gateway.chat({ stream: true })).text();
    expect(text.split(errorEvent)).toHaveLength(2);
    const [decision] = await gateway.decisions();
    expect(decision?.status).toBe(502);
    expect(decision?.stages).toMatchObject([{ verdict: "failed", reason: "engine failed after the first token: The engine was stopped." }]);
    expect(await (await fetch(`${gateway.adminUrl}/status`)).text()).toContain('"unhealthy"');
  });
});

describe("order and flow", () => {
  it("gives free room to whoever waits longest, by whichever name the model was asked for", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url], 1));
    const answers: Promise<Response>[] = [];
    for (const [index, model] of ["large", "cascade/test", "large", "cascade/test"].entries()) {
      answers.push(gateway.chat({ model, user: `${index}` }));
      await until(async () => {
        const { queued } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> };
        return Object.values(queued).reduce((sum, count) => sum + count, engine.asked.length) === index + 1;
      });
    }
    engine.open();
    await Promise.all(answers);
    expect(engine.asked.map(({ body }) => body.user)).toEqual(["0", "1", "2", "3"]);
  });

  it("holds the engine back while a client reads slowly, and loses nothing", async () => {
    // 50 MB: the kernel's buffers of two loopback connections hold some ten.
    const chunks = 2500;
    const big = streamEvent({ content: "x".repeat(20_000) });
    let written = 0;
    const engine = await startTestEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (; written < chunks; written += 1) if (!response.write(big)) await once(response, "drain");
      response.end("data: [DONE]\n\n");
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const body = JSON.stringify({ model: "cascade/test", stream: true, messages: [{ role: "user", content: "much" }] });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    }).end(body);
    const [response] = await once(request, "response");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(written).toBeLessThan(chunks);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(bytes).toBe(chunks * big.length + "data: [DONE]\n\n".length);
  });
});

describe("when clients go", () => {
  it("passes the abort on to the engine and frees its place", async () => {
    const engine = await startTestEngine(() => undefined);
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url], 1));
    const abort = new AbortController();
    const asking = gateway.chat({}, { signal: abort.signal }).catch(() => "aborted");
    const waiting = gateway.chat({}).catch(() => "cut");
    await until(() => engine.asked.length === 1);
    abort.abort();
    expect(await asking).toBe("aborted");
    await engine.asked[0]?.cutOff;
    await until(() => engine.asked.length === 2);
    expect((await gateway.decisions())[0]).toMatchObject({ status: 499 });
    await gateway.close();
    await waiting;
  });

  it("passes the abort of a live stream on", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ content: "first" }));
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const abort = new AbortController();
    const answer = await gateway.chat({ stream: true }, { signal: abort.signal });
    await answer.body?.getReader().read();
    abort.abort();
    await engine.asked[0]?.cutOff;
  });

  it("takes an aborted request out of the queue", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url], 1));
    const first = gateway.chat({});
    await until(() => engine.asked.length === 1);
    const abort = new AbortController();
    const second = gateway.chat({}, { signal: abort.signal }).catch(() => "aborted");
    const queued = async () =>
      ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> }).queued.large;
    await until(async () => (await queued()) === 1);
    abort.abort();
    await second;
    await until(async () => (await queued()) === 0);
    engine.open();
    expect((await first).status).toBe(200);
    expect(engine.asked).toHaveLength(1);
  });
});
