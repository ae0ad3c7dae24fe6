import { expect, test } from "vitest";
import type { Measure } from "@/server/contracts/studio/profile";
import type { Prompt } from "@/server/contracts/studio/prompts";
import { judgePrompt } from "@/solver/judging/judgePrompt";
import { createMeasureReadings, measureProblem } from "./readings";
import type { UnitTests } from "./unitTests";

const passing: UnitTests = { problem: async () => null, passes: async ({ answer }) => answer === "pass" };
const missing: UnitTests = { problem: async () => "Not here.", passes: async () => null };
const { readingCount, readingWork, countedScore } = createMeasureReadings(passing);
const prompt: Prompt = {
  id: "p",
  category: "",
  atMs: null,
  body: {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "2 + 2?" }] },
    ],
  },
  reference: "4",
  test: "a test",
};
const judge = {
  model: "j",
  at: { kind: "url", url: "http://judge.test" },
  usdPerMillionInputTokens: 0,
  usdPerMillionOutputTokens: 0,
} as const;
const rubric = { id: "r", name: "R", kind: "rubric", judge, rubric: null, repeats: 2 } as const satisfies Measure;
const reference = { ...rubric, kind: "reference" } as const satisfies Measure;
const pairwise = { ...rubric, kind: "pairwise", against: "large", swap: true } as const satisfies Measure;
const exact = { id: "e", name: "E", kind: "exact", extract: "number" } as const satisfies Measure;
const unit = { id: "u", name: "U", kind: "unit-test", command: ["true"], timeoutSeconds: 1 } as const satisfies Measure;
const read = { prompt, answer: "It is 4.", other: null };

/** The call a reading makes. */
function judged(...asked: Parameters<typeof readingWork>) {
  const work = readingWork(...asked);
  if (work.kind !== "judge") throw new Error(`Found ${work.kind}`);
  return work;
}

test("a rubric asks just what the gateway's judge is asked", () => {
  const { body, read: score } = judged(rubric, 0, read);
  const content = judgePrompt("system: Be brief.\nuser: 2 + 2?", "It is 4.");
  expect(body).toEqual({ messages: [{ role: "user", content }], temperature: 0, max_tokens: 8 });
  expect(score("80")).toEqual({ score: 80 });
  expect(["eighty", "140", ""].map(score)).toEqual([{ unscored: "no-number" }, { unscored: "out-of-range" }, { unscored: "empty" }]);
});

test("a reference is shown where there is one, and without one nothing is asked", () => {
  expect(judged(reference, 0, read).body.messages).toEqual([{ role: "user", content: expect.stringContaining("[reference answer]\n4\n") }]);
  expect(readingWork(reference, 0, { ...read, prompt: { ...prompt, reference: null } })).toEqual({
    kind: "known",
    reading: { unscored: "no-reference" },
  });
});

test("pairs are asked in both orders, and either reading is the answer's own", () => {
  const pair = { ...read, other: "It is 5." };
  const [first, second] = [0, 1].map((reading) => judged(pairwise, reading, pair));
  expect(JSON.stringify(first?.body)).toContain("[answer A]\\nIt is 4.\\n\\n[answer B]\\nIt is 5.");
  expect(JSON.stringify(second?.body)).toContain("[answer A]\\nIt is 5.\\n\\n[answer B]\\nIt is 4.");
  expect([first?.read("A"), second?.read("A")]).toEqual([{ score: 100 }, { score: 0 }]);
  expect([first?.read("tie"), second?.read("hm")]).toEqual([{ score: 50 }, { unscored: "no-number" }]);
  expect(readingWork(pairwise, 0, read)).toEqual({ kind: "known", reading: { score: 50 } });
});

test("what counts is the first reading, and of both orders their mean where both gave a score", () => {
  expect([rubric, pairwise, { ...pairwise, swap: false }, exact, unit].map(readingCount)).toEqual([2, 4, 2, 1, 1]);
  expect(countedScore(rubric, [70, 90])).toBe(70);
  expect(countedScore(rubric, [null, 90])).toBeNull();
  expect(countedScore(pairwise, [100, 0, 100, 100])).toBe(50);
  expect(countedScore(pairwise, [100, null])).toBeNull();
});

test("answers are matched and tested without a call", async () => {
  expect(readingWork(exact, 0, read)).toEqual({ kind: "known", reading: { score: 100 } });
  expect(readingWork(unit, 0, { ...read, prompt: { ...prompt, test: null } })).toEqual({ kind: "known", reading: { unscored: "no-test" } });
  const run = async (unitTests: UnitTests, answer: string) => {
    const work = createMeasureReadings(unitTests).readingWork(unit, 0, { ...read, answer });
    return work.kind === "local" ? work.run(new AbortController().signal) : work;
  };
  expect(await run(passing, "pass")).toEqual({ score: 100 });
  expect(await run(passing, "fail")).toEqual({ score: 0 });
  expect(await run(missing, "pass")).toEqual({ unscored: "failed" });
});

test("a measure that cannot be used says why", async () => {
  expect(await measureProblem(unit, passing)).toBeNull();
  expect(await measureProblem(unit, missing)).toBe("Not here.");
  expect(await measureProblem(rubric, passing)).toBeNull();
  expect(await measureProblem({ ...reference, rubric: "{prompt} {answer}" }, passing)).toContain(
    "R: The rubric needs the place {reference}",
  );
});
