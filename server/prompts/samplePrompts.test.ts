import { afterAll, describe, expect, it } from "vitest";
import type { Prompt } from "@/server/contracts/studio";
import { samplePrompts } from "./samplePrompts";
import { surveyPrompts } from "./surveyPrompts";
import { testPromptFiles } from "./testing/testPromptFile";

const files = testPromptFiles();
afterAll(files.remove);

const usual = Array.from({ length: 950 }, (_, at) => ({
  id: `u${at}`,
  category: "chat",
  messages: [{ role: "user", content: "x".repeat(100 + (at % 40)) }],
}));
const rare = Array.from({ length: 50 }, (_, at) => ({
  id: `r${at}`,
  category: "law",
  reference: "yes",
  test: at % 2 === 0 ? "true" : undefined,
  timestamp: 1_767_225_600 + at,
  messages: [
    { role: "user", content: "y".repeat(3000) },
    { role: "assistant", content: "more?" },
    { role: "user", content: "yes" },
  ],
}));
const content = [...usual.slice(0, 400), "not json", ...rare, ...usual.slice(400)]
  .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
  .join("\n");

async function sampleOf(text: string, size: number, by: readonly ("category" | "length" | "time")[], draw = 1) {
  const taken: Prompt[] = [];
  const batches: number[] = [];
  const outcome = await samplePrompts(files.file(text), { size, by, draw }, async (prompts) => {
    batches.push(prompts.length);
    taken.push(...prompts);
  });
  if (!outcome.ok) throw new Error(outcome.message);
  return { taken, batches, sampled: outcome.sampled };
}

describe("surveys and samples of prompts", () => {
  it("says what is in a file", async () => {
    expect(await surveyPrompts(files.file(content))).toMatchObject({
      ok: true,
      survey: {
        ...{ form: "chat", prompts: 1000, skipped: 1, badLines: [{ line: 401, problem: "it is not JSON" }], cutPrompts: 0 },
        categories: [
          { name: "chat", prompts: 950 },
          { name: "law", prompts: 50 },
        ],
        ...{ withTime: 50, withReference: 50, withTest: 25, multiTurn: 50, withTools: 0 },
      },
    });
  });

  it("tells twenty bad lines and counts all", async () => {
    const survey = await surveyPrompts(files.file(`${content}\n${"{\n".repeat(500)}`));
    expect(survey).toMatchObject({ ok: true, survey: { skipped: 501, badLines: { length: 20 } } });
  });

  it("refuses a file whose every line is bad, and says why the first is", async () => {
    const bad = JSON.stringify({ messages: [] });
    expect(await surveyPrompts(files.file(`${bad}\n${bad}`, "bad.jsonl"))).toEqual({
      ok: false,
      message: "bad.jsonl has no line that can be taken as a prompt; line 1: `messages` is empty.",
    });
  });

  it("takes as many of each category as its share, in the order of the file, and says so of the sample", async () => {
    const { taken, batches, sampled } = await sampleOf(content, 300, ["category"]);
    expect(taken).toHaveLength(300);
    expect(taken.filter(({ category }) => category === "law")).toHaveLength(15);
    expect(sampled).toMatchObject({ population: 1000, prompts: 300, skipped: 1, withReference: 15, multiTurn: 15 });
    expect(sampled.strata).toEqual([
      { name: "chat", population: 950, sampled: 285, interval: { confidence: 0.9, points: expect.closeTo(4.08, 1) } },
      { name: "law", population: 50, sampled: 15, interval: { confidence: 0.9, points: expect.closeTo(17.9, 0) } },
    ]);
    expect(Math.max(...batches)).toBeLessThanOrEqual(100);
    const places = taken.map(({ id }) => Number(id.slice(1)) + (id.startsWith("r") ? 0.5 : 0)).filter(Number.isInteger);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it("takes the same sample of the same file, and another one at another draw", async () => {
    const ids = async (draw: number) => (await sampleOf(content, 50, ["category", "length", "time"], draw)).taken.map(({ id }) => id);
    expect(await ids(1)).toEqual(await ids(1));
    expect((await ids(2)).filter((id) => id.startsWith("u"))).not.toEqual((await ids(1)).filter((id) => id.startsWith("u")));
  });

  it("takes one of a rare category only as often as it is due, and then claims nothing of it", async () => {
    const line = (category: string) => JSON.stringify({ category, messages: [{ role: "user", content: "x" }] });
    const text = [...Array.from({ length: 990 }, () => line("chat")), ...Array.from({ length: 10 }, () => line("law"))].join("\n");
    let taken = 0;
    for (let draw = 1; draw <= 60; draw++) {
      const { sampled } = await sampleOf(text, 20, ["category"], draw);
      const law = sampled.strata.find(({ name }) => name === "law");
      expect(law?.interval === null).toBe(law?.sampled === 0);
      taken += law?.sampled ?? 0;
    }
    // 0.2 of one each time: 12 in the mean, with a standard deviation of 3.1.
    expect(taken).toBeGreaterThan(2);
    expect(taken).toBeLessThan(23);
  });

  it("takes all there is where more is asked for, and then is exact", async () => {
    const { taken, sampled } = await sampleOf(content, 20_000, []);
    expect(taken).toHaveLength(1000);
    expect(sampled).toMatchObject({ interval: { points: 0 }, strata: [{ name: "all", population: 1000, sampled: 1000 }] });
  });

  it("tells prompts of one id apart", async () => {
    const same = ["a", "a", "a-2", "a"].map((id) => JSON.stringify({ id, messages: [{ role: "user", content: id }] })).join("\n");
    const { taken } = await sampleOf(same, 10, []);
    expect(taken.map(({ id }) => id)).toEqual(["a", "a-2", "a-2-2", "a-3"]);
  });
});
