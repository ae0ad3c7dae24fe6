import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { startTestGateway, testConfig } from "../testing/testGateway";

const judgeAt = (score: string) => startTestEngine((_, response) => sayCompletion(response, score, "weir-judge"));

const usageEvent = 'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}\n\n';
const streamOf = (...deltas: Record<string, unknown>[]): string =>
  `${deltas.map((delta) => streamEvent(delta)).join("")}${streamEvent({}, "stop")}${usageEvent}data: [DONE]\n\n`;

/** Small and large model, threshold 70, a judge that gives `score`; `stream` is the large model's stream. */
async function twoStages(score: string, stream = streamOf({ role: "assistant", content: "" }, { content: "4" })) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "four, maybe", "small"));
  const large = await startTestEngine((asked, response) => {
    if (asked.body.stream !== true) return sayCompletion(response, "4", "large");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(stream);
  });
  const judge = await judgeAt(score);
  const running = await startTestGateway();
  const config = testConfig({
    stages: [
      { model: "small", urls: [small.url] },
      { model: "large", urls: [large.url] },
    ],
    thresholds: [70],
    judgeUrl: judge.url,
  });
  await running.put(config);
  return { small, large, judge, running, config };
}

describe("a cascade behind the gateway", () => {
  it("accepts the small model's answer when its score reaches the threshold and explains it in headers and record", async () => {
    const { running, large, judge, small, config } = await twoStages("70");
    const answer = await running.chat({ seed: 5 }, { headers: { "x-request-id": "abc" } });
    expect(((await answer.json()) as OpenAI.ChatCompletion).choices[0]?.message.content).toBe("four, maybe");
    const header = (name: string) => answer.headers.get(name);
    expect(header("x-request-id")).toBe("abc");
    expect(header("x-weir-model")).toBe("small");
    expect([header("x-weir-plan"), header("x-weir-policy")]).toEqual(["plan-a", config.policyHash]);
    expect([header("x-weir-stage"), header("x-weir-escalations"), header("x-weir-judge-score")]).toEqual(["1", "0", "70"]);
    expect(small.asked[0]?.body).toMatchObject({ model: "small", seed: 5 });
    expect(large.asked).toHaveLength(0);
    expect(JSON.stringify(judge.asked[0]?.body)).toContain("four, maybe");
    const [decision] = await running.decisions();
    expect(decision).toMatchObject({ id: header("x-weir-decision-id"), status: 200, planId: "plan-a", sequence: 1 });
    expect(decision?.stages).toMatchObject([
      {
        model: "small",
        verdict: "accepted",
        judgedScore: 70,
        threshold: 70,
        inputTokens: 7,
        outputTokens: 3,
        reason: "score-at-or-above-threshold",
      },
    ]);
    expect(JSON.stringify(decision)).not.toContain("2 + 2");
  });

  it("escalates below the threshold and gives the large model's answer", async () => {
    const { running } = await twoStages("Score: 69");
    const answer = await running.chat({});
    expect(((await answer.json()) as OpenAI.ChatCompletion).model).toBe("large");
    expect([answer.headers.get("x-weir-stage"), answer.headers.get("x-weir-escalations")]).toEqual(["2", "1"]);
    const [decision] = await running.decisions();
    expect(decision?.stages.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ["escalated", "score-below-threshold"],
      ["accepted", "last-stage"],
    ]);
  });

  it("streams an accepted answer of a judged stage as events the official client understands", async () => {
    const { running, small } = await twoStages("90");
    const client = new OpenAI({ baseURL: `${running.dataUrl}/v1`, apiKey: "unused", maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: "cascade/test",
      messages: [{ role: "user", content: "What is 2 + 2?" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let finish: string | null = null;
    let tokens: number | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect([text, finish, tokens]).toEqual(["four, maybe", "stop", 10]);
    expect(small.asked[0]?.body).toMatchObject({ stream: false });
    expect(small.asked[0]?.body).not.toHaveProperty("stream_options");
  });

  it("streams the last stage through live when asked to, byte by byte", async () => {
    const { running } = await twoStages("10");
    const answer = await running.chat({ stream: true }, { headers: { "x-weir-stream": "last" } });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("x-weir-escalations")).toBe("1");
    const text = await answer.text();
    expect(text.startsWith(streamEvent({ role: "assistant", content: "" }) + streamEvent({ content: "4" }))).toBe(true);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const [decision] = await running.decisions();
    expect(decision?.stages[1]).toMatchObject({ verdict: "accepted", inputTokens: 7, outputTokens: 1 });
    expect(decision?.ttftSeconds).toBeGreaterThan(0);
  });

  it("streams the last stage of an engine that writes no space after `data:`, as TGI and Spring do", async () => {
    const stream = streamOf({ content: "4" }).replaceAll("data: ", "data:");
    const { running } = await twoStages("10", stream);
    const answer = await running.chat({ stream: true }, { headers: { "x-weir-stream": "last" } });
    expect(await answer.text()).toBe(stream);
    const [decision] = await running.decisions();
    expect(decision?.stages[1]).toMatchObject({ verdict: "accepted", inputTokens: 7, outputTokens: 1 });
  });

  it("answers a plain call of the official client by a model's own name, past the policy", async () => {
    const { running, judge } = await twoStages("10");
    const client = new OpenAI({ baseURL: `${running.dataUrl}/v1`, apiKey: "unused", maxRetries: 0 });
    const completion = await client.chat.completions.create({ model: "large", messages: [{ role: "user", content: "2 + 2?" }] });
    expect(completion.choices[0]?.message.content).toBe("4");
    expect(judge.asked).toHaveLength(0);
    expect((await running.decisions())[0]).toMatchObject({ planId: "", policyHash: "direct" });
    const listed = await client.models.list();
    expect(listed.data.map((model) => model.id)).toEqual(["cascade/default", "cascade/test", "small", "large"]);
    for (const name of ["cascade/default", "large"]) expect((await client.models.retrieve(name)).id).toBe(name);
    await expect(client.models.retrieve("gone")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });

  it.each([
    ["fails", null],
    ["talks instead of scoring", "splendid"],
    ["gives a score over 100", "740"],
  ])("accepts the answer and says so when the judge %s", async (_, score) => {
    const { running, judge } = await twoStages(score ?? "0");
    if (score === null) await judge.close();
    const answer = await running.chat({});
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-weir-judge-score")).toBeNull();
    const [decision] = await running.decisions();
    expect(decision?.stages).toMatchObject([{ model: "small", verdict: "accepted", judgedScore: null }]);
    expect(decision?.stages[0]?.reason).toBe("judge-unavailable");
    expect(await (await fetch(`${running.adminUrl}/status`)).json()).toMatchObject({ refused: 0, unjudged: 1 });
  });

  it("does not wait for a judge that is too slow", async () => {
    const small = await startTestEngine((_, response) => sayCompletion(response, "x"));
    const judge = await startTestEngine(() => undefined);
    const running = await startTestGateway({ judgeSeconds: 0.05 });
    const stages = [
      { model: "small", urls: [small.url] },
      { model: "large", urls: [small.url] },
    ];
    await running.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url }));
    expect((await running.chat({})).status).toBe(200);
    expect((await running.decisions())[0]?.stages[0]?.detail).toBe("no score within 0.05 s");
    await judge.asked[0]?.cutOff;
  });

  it("records engine seconds, which are wall seconds times the scale of the configuration", async () => {
    const slow = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "x"), 30));
    const running = await startTestGateway();
    await running.put({ ...testConfig({ stages: [{ model: "large", urls: [slow.url] }] }), timeScale: 100 });
    const startedMs = performance.now();
    await running.chat({});
    const wallSeconds = (performance.now() - startedMs) / 1000;
    const [decision] = await running.decisions();
    expect(decision?.stages[0]?.seconds).toBeGreaterThan(2.9);
    expect(decision?.endToEndSeconds).toBeLessThan(wallSeconds * 100);
    expect(decision?.overheadSeconds).toBeLessThan((decision?.endToEndSeconds ?? 0) - (decision?.stages[0]?.seconds ?? 0) + 1e-6);
  });
});
