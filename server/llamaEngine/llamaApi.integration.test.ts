import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { ensureTestAddon } from "@/server/addons/testing/testAddons";
import { alias, type LlamaEngine, startLlamaEngine } from "./testing/testLlamaEngine";

const missing = await ensureTestAddon("real-engine");

const question = { messages: [{ role: "user", content: "12+7=?" }], temperature: 0, max_tokens: 24, ignore_eos: true };
const completion = { prompt: "12+7=?\n", temperature: 0, max_tokens: 24, ignore_eos: true };

describe("the HTTP API of the real engine", needs(condition("the add-on real-engine", missing === null)), () => {
  let engine: LlamaEngine;
  beforeAll(async () => {
    engine = await startLlamaEngine();
  }, 180_000);
  afterAll(() => engine?.stop());

  it("streams a chat's text, log probabilities and usage as it gives them whole", async () => {
    const asked = { ...question, logprobs: true, top_logprobs: 3 };
    const whole = await engine.ask("/v1/chat/completions", asked);
    const events = await engine.stream("/v1/chat/completions", { ...asked, stream_options: { include_usage: true } });
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(choices.map((choice) => choice.delta.content).join("")).toBe(whole.choices[0].message.content);
    expect(choices.flatMap((choice) => choice.logprobs?.content ?? [])).toEqual(whole.choices[0].logprobs.content);
    expect(choices[0].delta.role).toBe("assistant");
    expect(choices.at(-1).finish_reason).toBe(whole.choices[0].finish_reason);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(whole.usage).toMatchObject({ completion_tokens: 24, prompt_tokens: 8 });
    expect(whole.choices[0].logprobs.content[0].top_logprobs).toHaveLength(3);
  });

  it("streams a completion with an echoed prompt as it gives it whole", async () => {
    const asked = { ...completion, echo: true, logprobs: 2 };
    const whole = (await engine.ask("/v1/completions", asked)).choices[0];
    const choices = (await engine.stream("/v1/completions", asked)).slice(0, -1).flatMap((chunk) => chunk.choices);
    expect(choices.map((choice) => choice.text).join("")).toBe(whole.text);
    for (const name of ["tokens", "token_logprobs", "top_logprobs", "text_offset"]) {
      expect(choices.flatMap((choice) => choice.logprobs?.[name] ?? [])).toEqual(whole.logprobs[name]);
    }
    expect(whole.text.startsWith(completion.prompt)).toBe(true);
  });

  it("gives the same answer to a prompt as text and as token ids", async () => {
    const { tokens } = await engine.ask("/tokenize", { prompt: completion.prompt });
    const [asText, asTokens] = [
      await engine.ask("/v1/completions", completion),
      await engine.ask("/v1/completions", { ...completion, prompt: tokens }),
    ];
    expect(asTokens.choices).toEqual(asText.choices);
    expect(tokens).toHaveLength(asText.usage.prompt_tokens);
  });

  it("answers many requests at once as it answers each alone", async () => {
    const prompts = Array.from({ length: 12 }, (_, index) => `${index * 37}+${index}=?\n`.repeat(1 + (index % 3)));
    const ask = (prompt: string) => engine.ask("/v1/completions", { ...completion, prompt, logprobs: 0 });
    const alone: Awaited<ReturnType<typeof ask>>[] = [];
    for (const prompt of prompts) alone.push((await ask(prompt)).choices[0]);
    const together = (await Promise.all(prompts.map(ask))).map((answer) => answer.choices[0]);
    together.forEach((choice, index) => {
      expect(choice.text).toBe(alone[index].text);
      choice.logprobs.token_logprobs.forEach((logprob: number, at: number) => {
        expect(logprob).toBeCloseTo(alone[index].logprobs.token_logprobs[at], 2);
      });
    });
  });

  it("scores a text as it scored it when it generated it", async () => {
    const { tokens: prompt } = await engine.ask("/tokenize", { prompt: completion.prompt });
    const generated = (await engine.ask("/v1/completions", { ...completion, logprobs: 0, ignore_eos: false })).choices[0];
    const { tokens: answer } = await engine.ask("/tokenize", { prompt: generated.logprobs.tokens.join(""), add_special_tokens: false });
    const body = { prompt: [...prompt, ...answer], echo: true, logprobs: 0, max_tokens: 0, temperature: 0 };
    const echoed = await engine.ask("/v1/completions", body);
    const scores = echoed.choices[0].logprobs.token_logprobs;
    expect(scores).toHaveLength(prompt.length + answer.length);
    expect(scores[0]).toBeNull();
    expect(echoed.usage.completion_tokens).toBe(0);
    const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
    const own = generated.logprobs.token_logprobs.slice(0, answer.length);
    expect(sum(scores.slice(prompt.length))).toBeCloseTo(sum(own), 1);
    expect(sum(own)).toBeLessThan(-0.1);
  });

  it("draws the same answer for the same seed, and others for others", async () => {
    const draw = async (seed: number) => (await engine.ask("/v1/completions", { ...completion, temperature: 1, seed })).choices[0].text;
    expect(await draw(5)).toBe(await draw(5));
    expect(await draw(5)).not.toBe(await draw(6));
  });

  it("ends at a stop text, which it does not give, and holds back what may be one", async () => {
    const { text } = (await engine.ask("/v1/completions", completion)).choices[0];
    const stop = text.slice(5, 7);
    const asked = { ...completion, stop };
    const whole = (await engine.ask("/v1/completions", asked)).choices[0];
    expect(whole).toMatchObject({ text: text.slice(0, text.indexOf(stop)), finish_reason: "stop", stop_reason: stop });
    const events = (await engine.stream("/v1/completions", asked)).slice(0, -1);
    expect(events.map((event) => event.choices[0].text).join("")).toBe(whole.text);
  });

  it("generates at least min_tokens tokens", async () => {
    const end = { ...completion, ignore_eos: false, stop_token_ids: Array.from({ length: 50 }, (_, token) => token), max_tokens: 20 };
    const { usage } = await engine.ask("/v1/completions", { ...end, min_tokens: 9 });
    expect(usage.completion_tokens).toBeGreaterThanOrEqual(9);
  });

  it.each([
    [{ prompt: "1", n: 2 }, 400, /^Field n: /],
    [{ prompt: ["1", "2"] }, 400, /only 1 prompt/],
    [{ prompt: "", echo: true, max_tokens: 400 }, 400, /maximum context length is 256 tokens/],
    [{ prompt: "1".repeat(300) }, 400, /maximum context length is 256 tokens/],
    [{ prompt: [0, 99_999] }, 400, /token 99999 is not one of the model's 99/],
    [{ prompt: "1", max_tokens: 0 }, 400, /max_tokens/],
    [{ prompt: "1", presence_penalty: 1 }, 400, /does not have presence_penalty/],
    [{ prompt: "1", response_format: { type: "json_object" } }, 400, /response_format/],
    [{ prompt: "1", model: "other" }, 404, /`other` does not exist/],
  ])("refuses %j with %i", async (body, status, message) => {
    const response = await engine.post("/v1/completions", body);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { readonly error: { readonly message: string; readonly code: number } };
    expect(error.message).toMatch(message);
    expect(error.code).toBe(status);
  });

  it("refuses bodies that are no JSON, too large, or too deep, and pages of other origins", async () => {
    const send = (body: string, headers = {}) =>
      fetch(`${engine.url}/v1/completions`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    expect((await send("{")).status).toBe(400);
    expect((await send(`${"[".repeat(200)}${"]".repeat(200)}`)).status).toBe(400);
    expect((await send(JSON.stringify({ model: alias, prompt: "1".repeat(9_000_000) }))).status).toBe(413);
    expect((await send("{}", { origin: "http://example.com" })).status).toBe(403);
    expect((await fetch(`${engine.url}/v1/embeddings`)).status).toBe(404);
  });

  it("is understood by OpenAI's own client", async () => {
    const client = new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: "none" });
    const stream = await client.chat.completions.create({
      model: alias,
      messages: [{ role: "user", content: "1+1=?" }],
      temperature: 0,
      max_tokens: 5,
      stream: true,
    });
    const reasons: (string | null)[] = [];
    for await (const chunk of stream) reasons.push(chunk.choices[0]?.finish_reason ?? null);
    expect(reasons.at(-1)).toMatch(/stop|length/);
    expect((await client.models.list()).data[0]).toMatchObject({ id: alias, max_model_len: 256, root: "random.gguf" });
  });
});
