import { describe, expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig } from "../testing/testGateway";

const writingMs = 250;

/** A cascade whose small model never passes, and whose large one takes a quarter of a second for an answer after its first token. */
async function slowLastStage(settings?: GatewaySettings) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "no"));
  const large = await startTestEngine(({ body }, response) => {
    if (body.stream !== true) return setTimeout(() => sayCompletion(response, "first, last"), writingMs);
    response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ role: "assistant", content: "first" }));
    return setTimeout(() => response.end(`${streamEvent({ content: ", last" }, "stop")}data: [DONE]\n\n`), writingMs);
  });
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
  const gateway = await startTestGateway();
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url, ...(settings === undefined ? {} : { settings }) }));
  /** Milliseconds to the first and to the last byte of a stream, and the record of the first token. */
  const timed = async (headers: Record<string, string>) => {
    const startedMs = performance.now();
    const answer = await gateway.post("/v1/chat/completions", { model: "cascade/test", stream: true, messages: [{}] }, headers);
    const reader = answer.body?.getReader();
    await reader?.read();
    const firstMs = performance.now() - startedMs;
    while (!(await reader?.read())?.done);
    const ttftSeconds = (await gateway.decisions()).at(-1)?.ttftSeconds ?? 0;
    return { firstMs, wholeMs: performance.now() - startedMs, ttftSeconds, asked: large.asked.at(-1)?.body.stream };
  };
  return { ...gateway, timed, large };
}

describe("a stream of a judged cascade", () => {
  it("waits for the whole answer by default, which costs the time to write it until the first token", async () => {
    const { timed } = await slowLastStage();
    const { firstMs, wholeMs, ttftSeconds, asked } = await timed({});
    expect(asked).toBe(false);
    expect(firstMs).toBeGreaterThan(writingMs);
    expect(wholeMs - firstMs).toBeLessThan(writingMs / 2);
    expect(ttftSeconds * 1000).toBeGreaterThan(writingMs);
  });

  it("begins with the last stage's first token where the request asks for that", async () => {
    const { timed } = await slowLastStage();
    const { firstMs, wholeMs, ttftSeconds, asked } = await timed({ "x-weir-stream": "last" });
    expect(asked).toBe(true);
    expect(wholeMs - firstMs).toBeGreaterThan(writingMs / 2);
    expect(ttftSeconds * 1000).toBeLessThan(wholeMs - writingMs / 2);
  });

  it("comes as the settings say where the request says nothing, and as the request says where it does", async () => {
    const { timed } = await slowLastStage({ streaming: "last" });
    expect((await timed({})).asked).toBe(true);
    expect((await timed({ "x-weir-stream": "buffer" })).asked).toBe(false);
  });

  it("is whole or an error, though the engine fails in the middle of the answer, when it is buffered", async () => {
    const dying = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write('{"choices":');
      setTimeout(() => response.destroy(), 10);
    });
    const sound = await startTestEngine((_, response) => sayCompletion(response, "0"));
    const gateway = await startTestGateway();
    const stages = [
      { model: "small", urls: [sound.url] },
      { model: "large", urls: [dying.url, sound.url] },
    ];
    await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: sound.url }));
    const text = await (await gateway.chat({ stream: true })).text();
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(text).not.toContain("error");
    expect(dying.asked).toHaveLength(1);
  });

  it("is refused in a sentence when it is to come in a way that does not exist", async () => {
    const { post, large } = await slowLastStage();
    const answer = await post("/v1/chat/completions", { model: "cascade/test", messages: [{}] }, { "x-weir-stream": "fast" });
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect([answer.status, error.code]).toEqual([400, "invalid_header"]);
    expect(error.message).toBe('The header x-weir-stream says "fast", but only buffer and last exist.');
    expect(large.asked).toHaveLength(0);
  });
});

describe("a stream of a model by its own name", () => {
  it("is live, since nothing is judged", async () => {
    const { post, large } = await slowLastStage();
    await (await post("/v1/chat/completions", { model: "large", stream: true, messages: [{}] })).text();
    expect(large.asked[0]?.body.stream).toBe(true);
  });
});

describe("a live stream", () => {
  const streamed = async (parts: readonly string[], end: "ends" | "breaks off"): Promise<string> => {
    const engine = await startTestEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const part of parts) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      if (end === "ends") response.end();
      else response.destroy();
    });
    const gateway = await startTestGateway({ attemptsPerStage: 1 });
    await gateway.put(oneModel([engine.url]));
    return (await gateway.chat({ stream: true })).text();
  };
  const first = streamEvent({ role: "assistant", content: "first" });
  const last = streamEvent({ content: "last" }, "stop");

  it("comes byte for byte, whatever its ends of lines are and though its last line has none", async () => {
    const whole = `${first}: a comment\r\n\r\n${last.replaceAll("\n", "\r\n")}data: [DONE]`;
    expect(await streamed([whole.slice(0, first.length + 7), whole.slice(first.length + 7, -3), whole.slice(-3)], "ends")).toBe(whole);
  });

  it.each([
    ["in the middle of a line", 'data: {"choices":[{"del', ""],
    ["after a line, before its event has ended", last.slice(0, -1), last],
  ])("that breaks off %s holds events that can be read, and then one error", async (_, rest, passed) => {
    const text = await streamed([first, rest], "breaks off");
    expect(text.startsWith(`${first}${passed.trimEnd()}`)).toBe(true);
    const events = text.split(/\n{2,}/).filter((event) => event.trim() !== "");
    const errors = events.map((event) => (JSON.parse(event.trim().slice("data: ".length)) as { error?: { code: string } }).error?.code);
    expect(errors.filter((code) => code !== undefined)).toEqual(["engine_failed"]);
    expect(errors.at(-1)).toBe("engine_failed");
    expect(events).toHaveLength(passed === "" ? 2 : 3);
  });
});
