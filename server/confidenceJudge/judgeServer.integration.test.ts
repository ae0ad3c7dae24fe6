import { createServer, type Server } from "node:http";
import OpenAI from "openai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listen, shut } from "@/server/contracts/http/apiServer";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { judgeCallBody } from "@/solver/judging/judgeCall";
import { judgePrompt, rubricPrompt } from "@/solver/judging/judgePrompt";
import { JUDGE_MODEL } from "./judgePrograms";
import { createJudgeServer } from "./judgeServer";

/** What the engine of a test was sent, and what it answers. */
interface EngineReply {
  readonly status?: number;
  readonly body?: unknown;
  readonly delayMs?: number;
}
let reply: (tokens: readonly number[]) => EngineReply;
let asked: Record<string, unknown>[];
let closedEarly = 0;
let engine: Server;
let judge: Server;
let url = "";

/** Log probabilities as an engine echoes them: none for the first token, then the given ones from the end. */
const echoed = (tokens: readonly number[], ends: readonly number[]) => ({
  choices: [
    {
      logprobs: {
        token_logprobs: [null, ...tokens.slice(1).map(() => -0.001), -9].toSpliced(tokens.length - ends.length, ends.length, ...ends),
      },
    },
  ],
});

beforeEach(async () => {
  asked = [];
  closedEarly = 0;
  reply = (tokens) => ({ body: echoed(tokens, [Math.log(0.9), Math.log(0.42), Math.log(0.99)]) });
  engine = createServer(async (request, response) => {
    if (request.url === "/health") return void response.end();
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    asked.push(body);
    const { status = 200, body: answer, delayMs = 0 } = reply(body.prompt);
    response.once("close", () => {
      if (!response.writableEnded) closedEarly += 1;
    });
    setTimeout(() => response.writeHead(status).end(typeof answer === "string" ? answer : JSON.stringify(answer)), delayMs);
  });
  const port = await listen(engine, 0);
  judge = createJudgeServer({ url: `http://127.0.0.1:${port}`, model: "arith-small", limitMs: 600 });
  url = `http://127.0.0.1:${await listen(judge, 0)}`;
});
afterEach(() => Promise.all([shut(judge), shut(engine)]));

const call = (body: unknown, signal?: AbortSignal) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
const judged = (question: string, answer: string) => call(judgeCallBody(JUDGE_MODEL, judgePrompt(`user: ${question}`, answer)));
const said = async (response: Response) => {
  const { error } = (await response.json()) as { error: { message: string } };
  return { status: response.status, message: error.message };
};

test("the score is 100 times the smallest probability of the answer's tokens, its end included, and of none before or after", async () => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
  const completion = await client.chat.completions.create({
    ...judgeCallBody(JUDGE_MODEL, judgePrompt("user: 7+8", "15")),
    messages: [{ role: "user", content: judgePrompt("user: 7+8", "15") }],
  });
  expect(completion.choices[0]).toMatchObject({ message: { content: "42" }, finish_reason: "stop" });
  expect(completion.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 1 });
  // <s> 7 + 8 line feed 1 5 </s>
  expect(asked).toEqual([
    { model: "arith-small", prompt: [0, 26, 14, 27, 98, 20, 24, 1], max_tokens: 1, temperature: 0, echo: true, logprobs: 0 },
  ]);
});

test("a reference in the rubric is not shown to the engine, and an empty answer is scored by its end", async () => {
  const content = rubricPrompt("reference", { prompt: "user: 7+8", answer: "", reference: "15" });
  reply = (tokens) => ({ body: echoed(tokens, [Math.log(0.07)]) });
  const completion = (await (await call(judgeCallBody(JUDGE_MODEL, content))).json()) as OpenAI.ChatCompletion;
  expect(completion.choices[0]?.message.content).toBe("7");
  expect(asked[0]?.prompt).toEqual([0, 26, 14, 27, 98, 1]);
});

test("an answer with a character that the model does not know scores 0 without a call", async () => {
  const completion = (await (await judged("7+8", "１５")).json()) as OpenAI.ChatCompletion;
  expect(completion.choices[0]?.message.content).toBe("0");
  expect(asked).toEqual([]);
});

test("bad requests are refused in one sentence and never reach the engine", async () => {
  const content = judgePrompt("user: 7+8", "15");
  expect(await said(await call("{"))).toEqual({ status: 400, message: "The body is not valid JSON" });
  expect(await said(await call({ model: JUDGE_MODEL }))).toMatchObject({ status: 400, message: expect.stringContaining("Field messages") });
  expect(await said(await call({ ...judgeCallBody(JUDGE_MODEL, content), stream: true }))).toMatchObject({
    status: 400,
    message: expect.stringContaining("does not stream"),
  });
  expect(await said(await call(judgeCallBody("gpt-4", content)))).toEqual({ status: 404, message: "The model `gpt-4` does not exist." });
  const comparison = rubricPrompt("pairwise", { prompt: "7+8", answer: "15", other: "16" });
  for (const text of ["7+8", comparison]) {
    expect(await said(await call(judgeCallBody(JUDGE_MODEL, text)))).toMatchObject({
      status: 400,
      message: expect.stringContaining("[question] and [answer]"),
    });
  }
  expect((await call("x".repeat(1_100_000))).status).toBe(413);
  expect(asked).toEqual([]);
});

test("an engine that refuses, fails, gives no log probabilities or too few has an error of its own kind", async () => {
  const replies: readonly (readonly [EngineReply, number, string])[] = [
    [{ status: 400, body: { error: { message: "maximum context length is 64" } } }, 400, "refuses the text: maximum context length is 64."],
    [{ status: 500, body: "oops" }, 503, "does not answer: it answers with status 500"],
    [{ status: 429, body: "busy" }, 503, "does not answer"],
    [{ body: { choices: [{ text: "1" }] } }, 502, "gives no log probabilities"],
    [{ body: "<html>" }, 502, "gives no log probabilities"],
    [{ body: { choices: [{ logprobs: { token_logprobs: [null, -1] } }] } }, 502, "gives no log probabilities"],
    [{ body: { choices: [{ logprobs: { token_logprobs: Array(9).fill(null) } }] } }, 502, "gives no log probabilities"],
  ];
  for (const [answer, status, message] of replies) {
    reply = () => answer;
    expect(await said(await judged("7+8", "15"))).toEqual({ status, message: expect.stringContaining(message) });
  }
});

test("an engine that hangs costs the time limit, and one that is gone nothing", async () => {
  reply = () => ({ body: {}, delayMs: 60_000 });
  expect(await said(await judged("7+8", "15"))).toEqual({ status: 504, message: expect.stringContaining("gave no score within 0.6 s") });
  await shut(engine);
  const before = performance.now();
  expect(await said(await judged("7+8", "15"))).toEqual({ status: 503, message: expect.stringContaining("ECONNREFUSED") });
  expect(performance.now() - before).toBeLessThan(500);
  expect((await fetch(`${url}/health`)).status).toBe(503);
});

test("a client that leaves ends the engine's call", async () => {
  reply = () => ({ body: {}, delayMs: 400 });
  const leaving = new AbortController();
  const pending = call(judgeCallBody(JUDGE_MODEL, judgePrompt("user: 7+8", "15")), leaving.signal).catch(() => "left");
  await expect.poll(() => asked.length).toBe(1);
  leaving.abort();
  expect(await pending).toBe("left");
  await expect.poll(() => closedEarly, { timeout: 350 }).toBe(1);
});

test("it lists its one model, is healthy with its engine, and counts judgements that succeeded", async () => {
  const served = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
  expect(served.data.map(({ id }) => id)).toEqual([JUDGE_MODEL]);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  const page = async () => (await fetch(`${url}/metrics`)).text();
  const counted = async () => /weir_judge_requests_total\{[^}]*\} (\d+)/.exec(await page())?.[1];
  expect(await page()).not.toContain("vllm:");
  expect(chooseMapping(parsePromText(await page()), null)?.engine).toBe("weir-judge");
  expect(await counted()).toBe("0");
  await judged("7+8", "15");
  reply = () => ({ status: 500 });
  await judged("7+8", "15");
  expect(await counted()).toBe("1");
});

test("a page of another origin cannot use the judge", async () => {
  const response = await fetch(`${url}/v1/models`, { headers: { origin: "https://example.com" } });
  expect(response.status).toBe(403);
});
