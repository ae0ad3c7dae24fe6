import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { outcomes, post, TestEmulators } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(() => {
  emulators = new TestEmulators(24650);
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
    expect(performance.now() - started).toBeLessThan(700);
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
