import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type EmulatedEngine, trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import { freePort } from "@/server/testing/freePorts";
import { aggregatorMessages } from "@/solver/ensemble/gate/aggregatorPrompt";
import { judgePrompt } from "@/solver/judging/judgePrompt";
import { ask, engineOn, isReady, MODEL, outcomes, post, TestEmulators, until } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

describe("the emulated judge", () => {
  it("answers the judged score of the tagged answer as a bare integer, in about its fixed time", async () => {
    const { describe: read, call } = await emulators.start(1);
    await call("PUT", "/outcomes", outcomes());
    const { judge } = await read();
    const question = "[question] [prompt long] ... [answer] [emulated answer short by gemma-2-2b] the water";
    const started = performance.now();
    const answer = await post(judge.url, { model: judge.model, messages: [{ role: "user", content: question }] });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "83" }, finish_reason: "stop" }] });
    expect(performance.now() - started).toBeGreaterThan(150);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("gives the label of the answer where it is asked as the judge that may know it", async () => {
    const { describe: read, call } = await emulators.start(1000);
    await call("PUT", "/outcomes", outcomes());
    const { judge } = await read();
    const served = (await (await fetch(`${judge.url}/v1/models`)).json()) as { readonly data: readonly { readonly id: string }[] };
    expect(served.data.map(({ id }) => id)).toEqual([judge.model, trustedJudgeModel]);
    const score = async (prompt: string) => {
      const content = judgePrompt("What is it?", `[emulated answer ${prompt} by gemma-2-2b] the water`);
      const answer = await post(judge.url, { model: trustedJudgeModel, messages: [{ role: "user", content }] });
      return ((await answer.json()) as OpenAI.ChatCompletion).choices[0]?.message.content;
    };
    expect([await score("short"), await score("long")]).toEqual(["100", "0"]);
  });

  it("scores untagged text by its hash: always the same integer from 0 to 100", async () => {
    const { describe: read, call } = await emulators.start(1000);
    await call("PUT", "/outcomes", outcomes());
    const { judge } = await read();
    const client = new OpenAI({ baseURL: `${judge.url}/v1`, apiKey: "none" });
    const score = async (content: string) =>
      (await client.chat.completions.create({ model: judge.model, messages: [{ role: "user", content }] })).choices[0]?.message.content;
    const first = await score("no tag here");
    expect(first).toMatch(/^\d+$/);
    expect(Number(first)).toBeLessThanOrEqual(100);
    expect(await score("no tag here")).toBe(first);
  });
});

describe("an emulated engine that judges", () => {
  const judgeModel = "qwen2.5-3b";
  const judgeOf = async () => {
    const { call, describe: read } = await emulators.start(20);
    await call("PUT", "/outcomes", outcomes());
    const up = async (gpu: number, model: string) => {
      const { url } = (await (await call("POST", "/engines", engineOn(gpu, { model }))).json()) as EmulatedEngine;
      await until(() => isReady(url));
      return url;
    };
    const [url = "", answering = ""] = await Promise.all([up(0, judgeModel), up(1, MODEL)]);
    return { url, answering, emulatedJudge: (await read()).judge };
  };
  const said = async (url: string, model: string, content: string) => {
    const answer = await post(url, { model, messages: [{ role: "user", content }], max_tokens: 8 });
    const { choices, usage } = (await answer.json()) as OpenAI.ChatCompletion;
    return { status: answer.status, content: choices?.[0]?.message.content, promptTokens: usage?.prompt_tokens };
  };

  it("gives the score that the emulated judge gives, and reads as many tokens as it is shown", async () => {
    const { url, emulatedJudge } = await judgeOf();
    const shown = judgePrompt("user: [prompt short] What is it?", "[emulated answer short by gemma-2-2b] the water");
    expect(await said(url, judgeModel, shown)).toEqual({ status: 200, content: "83", promptTokens: Math.ceil(shown.length / 4) });
    expect((await said(emulatedJudge.url, emulatedJudge.model, shown)).content).toBe("83");
  });

  it("also where its model answers prompts too", async () => {
    const { answering } = await judgeOf();
    const shown = judgePrompt("user: [prompt long] What is it?", "[emulated answer long by gemma-2-2b] the water");
    expect((await said(answering, MODEL, shown)).content).toBe("20");
    expect((await said(answering, MODEL, "[prompt long] Go on after [emulated answer long by gemma-2-2b]")).content).toMatch(
      /^\[emulated answer/,
    );
  });

  it("answers the prompt of the answers that it is shown to make one of", async () => {
    const { answering } = await judgeOf();
    const tag = "[emulated answer long by gemma-2-2b]";
    const content = aggregatorMessages([{ role: "user", content: "What is it?" }], [{ text: `${tag} the` }, { text: `${tag} water` }]);
    const answer = await post(answering, { model: MODEL, messages: content, max_tokens: 3 });
    expect(((await answer.json()) as OpenAI.ChatCompletion).choices[0]?.message.content).toMatch(
      /^\[emulated answer long by gemma-2-2b\] /,
    );
    const judged = judgePrompt("What is it?", `${tag} water`);
    expect((await said(answering, MODEL, judged)).content).toBe("20");
  });

  it("is up for a first token, and does not pretend to answer the workload's prompts", async () => {
    const { url } = await judgeOf();
    expect(await said(url, judgeModel, "Say one word.")).toMatchObject({ status: 200, content: expect.stringMatching(/^\d+$/) });
    expect((await post(url, { ...ask("short"), model: judgeModel })).status).toBe(503);
  });
});
