import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { type Answer, streamEvent } from "../testing/testEngine";
import { ask, fails, held, says, served, serving, told } from "../testing/testEnsembles";
import { type TestGateway, until } from "../testing/testGateway";

const clientOf = (gateway: TestGateway): OpenAI => new OpenAI({ baseURL: `${gateway.dataUrl}/v1`, apiKey: "none", maxRetries: 0 });
const question = { model: "ensemble/trio", messages: [{ role: "user" as const, content: "Which one?" }], stream: true as const };
const usageEvent = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "sum", choices: [], usage: { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 } })}\n\n`;

/** Streams two words, the second one only after `goOn`. */
function written() {
  let goOn = (): void => undefined;
  const letGo = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const answer: Answer = async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(streamEvent({ role: "assistant", content: "Well" }));
    await letGo;
    response.write(streamEvent({ content: ", D." }));
    response.write(streamEvent({}, "stop"));
    response.end(`${usageEvent}data: [DONE]\n\n`);
  };
  return { answer, goOn: () => goOn() };
}

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  let text = "";
  let usage: OpenAI.CompletionUsage | null | undefined;
  const models = new Set<string>();
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
    models.add(chunk.model);
  }
  return { text, usage, models: [...models] };
}

describe("an ensemble's stream", () => {
  it("is the answer that leads where the aggregator is skipped, with the usage of all calls where that is asked for", async () => {
    const { gateway, engines } = await serving({ c: says("B") }, { tau: 2 / 3 });
    const { data, response } = await clientOf(gateway)
      .chat.completions.create({ ...question, stream_options: { include_usage: true } })
      .withResponse();
    expect(told(response)).toMatchObject({ outcome: "skipped", model: "a" });
    const { text, usage, models } = await textOf(data);
    expect([text, models]).toEqual(["I am sure.\nAnswer: A", ["ensemble/trio"]]);
    expect(usage?.total_tokens).toBeGreaterThanOrEqual(20);
    expect(engines.a.asked[0]?.body.stream).toBeUndefined();
  });

  it("is the aggregator's own, live, under the ensemble's name", async () => {
    const { answer, goOn } = written();
    const { gateway, engines } = await serving({ b: says("B"), c: says("C"), sum: answer });
    const { data, response } = await clientOf(gateway)
      .chat.completions.create({ ...question, stream_options: { include_usage: true } })
      .withResponse();
    expect(told(response)).toMatchObject({ outcome: "aggregated", votes: "1:1:1", model: "sum" });
    expect(response.headers.get("x-weir-decision-id")).toMatch(/^[0-9a-f-]{36}$/);
    const words: string[] = [];
    const models = new Set<string>();
    let usage: unknown;
    for await (const chunk of data) {
      const word = chunk.choices[0]?.delta.content;
      models.add(chunk.model);
      usage = chunk.usage ?? usage;
      if (word) words.push(word);
      // The rest is written only now that the first word has arrived.
      if (word === "Well") goOn();
    }
    expect([words, [...models]]).toEqual([["Well", ", D."], ["ensemble/trio"]]);
    expect(usage).toEqual({ prompt_tokens: 3 * 7 + 40, completion_tokens: 3 * 3 + 2, total_tokens: 30 + 42 });
    expect(engines.sum.asked[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect((await served(gateway)).outcomes.aggregated).toBe(1);
  });

  it("is passed on event by event from engines that end their lines as old networks do", async () => {
    const { gateway } = await serving({
      b: says("B"),
      c: says("C"),
      sum: (_, response) => {
        const events = [streamEvent({ role: "assistant", content: "Well" }), streamEvent({ content: ", D." }), streamEvent({}, "stop")];
        const bytes = Buffer.from(`${events.join("")}${usageEvent}data: [DONE]\n\n`.replaceAll("\n", "\r\n"));
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let from = 0; from < bytes.length; from += 7) response.write(bytes.subarray(from, from + 7));
        response.end();
      },
    });
    const stream = await clientOf(gateway).chat.completions.create({ ...question, stream_options: { include_usage: true } });
    const { text, usage, models } = await textOf(stream);
    expect([text, models, usage?.total_tokens]).toEqual(["Well, D.", ["ensemble/trio"], 72]);
  });

  it("tells the experts' usage where the aggregator's engine tells none", async () => {
    const { gateway } = await serving({
      c: says("B"),
      sum: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`${streamEvent({ role: "assistant", content: "Well" })}${streamEvent({}, "stop")}data: [DONE]\n\n`);
      },
    });
    const stream = await clientOf(gateway).chat.completions.create({ ...question, stream_options: { include_usage: true } });
    const { text, usage, models } = await textOf(stream);
    expect([text, models, usage]).toEqual([
      "Well",
      ["ensemble/trio"],
      { prompt_tokens: 3 * 7, completion_tokens: 3 * 3, total_tokens: 3 * 10 },
    ]);
  });

  it("tells no usage that nobody asked for", async () => {
    const { answer, goOn } = written();
    const { gateway } = await serving({ b: says("B"), c: says("C"), sum: answer });
    goOn();
    const text = await (await ask(gateway, { stream: true })).text();
    expect(text).toContain(", D.");
    expect(text).not.toContain("usage");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("says that it is still there while experts answer, and then in a comment what its headers would have said", async () => {
    const slow = held("A");
    const { gateway } = await serving({ c: slow.answer }, {}, { heartbeatSeconds: 0.02 });
    const answer = await ask(gateway, { stream: true });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    let text = "";
    const reading = (async () => {
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    await until(() => text.includes(": experts are answering\n\n"));
    slow.release();
    await reading;
    expect(text).toContain(": x-weir-ensemble-outcome skipped\n: x-weir-ensemble-votes 3:0\n");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("is the answer that led where the aggregator fails before its first word", async () => {
    const { gateway } = await serving({ c: says("B"), sum: fails });
    const { data, response } = await clientOf(gateway).chat.completions.create(question).withResponse();
    expect(told(response)).toMatchObject({ outcome: "aggregator-failed", model: "a" });
    expect((await textOf(data)).text).toContain("Answer: A");
  });

  it("ends with an error the client sees where the aggregator breaks off", async () => {
    const { gateway } = await serving({
      c: says("B"),
      sum: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(streamEvent({ role: "assistant", content: "Well" }));
        setTimeout(() => response.destroy(), 20);
      },
    });
    const stream = await clientOf(gateway).chat.completions.create(question);
    await expect(textOf(stream)).rejects.toThrow(/failed/);
    await until(async () => (await served(gateway)).outcomes.failed === 1);
  });

  it("ends with one error, and nothing that is no event, where the aggregator breaks off in the middle of one", async () => {
    const { gateway } = await serving({
      c: says("B"),
      sum: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`${streamEvent({ role: "assistant", content: "Well" })}data: {"choices":[{"del`);
        setTimeout(() => response.destroy(), 20);
      },
    });
    const events = (await (await ask(gateway, { stream: true })).text()).split("\n\n").filter((event) => event.trim() !== "");
    const read = events.map((event) => JSON.parse(event.trim().slice("data: ".length)) as { error?: { code: string } });
    expect(read.map(({ error }) => error?.code)).toEqual([undefined, "engine_failed"]);
    await expect(textOf(await clientOf(gateway).chat.completions.create(question))).rejects.toThrow(/failed/);
  });

  it("leaves out data of the aggregator's that no client could read", async () => {
    const { gateway } = await serving({
      c: says("B"),
      sum: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(
          `${streamEvent({ role: "assistant", content: "Well" })}data: {"choices":[{"del\n\ndata: {"choices":\ndata: []}\n\n${streamEvent({}, "stop")}data: [DONE]\n\n`,
        );
      },
    });
    const stream = await clientOf(gateway).chat.completions.create(question);
    expect((await textOf(stream)).text).toBe("Well");
  });

  it("is an error of the usual form where nobody answers and nothing has left, and an event where something has", async () => {
    const none = await serving({ a: fails, b: fails, c: fails, sum: fails });
    const refused = await ask(none.gateway, { stream: true });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([502, "application/json"]);
    const slow = held("A");
    const late = await serving({ a: slow.answer, b: fails, c: fails, sum: fails }, { deadlineSeconds: 0.3 }, { heartbeatSeconds: 0.02 });
    const answer = await ask(late.gateway, { stream: true });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(
      /data: \{"error":\{"message":"The ensemble trio has no answer\. a did not answer in time;.*\}\}\n\n$/,
    );
  });

  it("is given up with the aggregator's when its client goes", async () => {
    const { answer } = written();
    const { gateway, engines } = await serving({ c: says("B"), sum: answer });
    const stream = await clientOf(gateway).chat.completions.create(question);
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await engines.sum.asked[0]?.cutOff;
    expect((await served(gateway)).requests).toBe(0);
  });
});
