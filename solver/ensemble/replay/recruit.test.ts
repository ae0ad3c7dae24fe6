import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnswerSample } from "./answerSample";
import { recruiter, skillsOf } from "./recruit";

const experts = ["a", "b", "c", "d"];
const skills = { "*": { a: 0.9, b: 0.8, c: 0.1, d: 0.2 }, law: { c: 0.95, d: 0.92 }, art: { a: 0.1, b: 0.2, c: 0.3, d: 0.4 } };

test("the most accurate ones of a category answer, in the ensemble's order", () => {
  const recruits = recruiter({ experts, expertsPerQuestion: 2, skills });
  expect([recruits("law"), recruits("art"), recruits("unheard of")]).toEqual([
    ["c", "d"],
    ["c", "d"],
    ["a", "b"],
  ]);
});

test("an expert without a figure of the category counts by its figure of all", () => {
  expect(recruiter({ experts, expertsPerQuestion: 3, skills })("law")).toEqual(["a", "c", "d"]);
});

test("without skills the first ones of the list answer, whatever the category is called", () => {
  const recruits = recruiter({ experts: ["constructor", "b", "c"], expertsPerQuestion: 2, skills: undefined });
  expect([recruits("*"), recruits("constructor"), recruits("__proto__")]).toEqual(Array(3).fill(["constructor", "b"]));
});

test("as many different experts as are to answer are recruited, always the same ones", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.dictionary(
        fc.constantFrom("*", "law", "art"),
        fc.dictionary(fc.constantFrom(...experts), fc.double({ min: 0, max: 1, noNaN: true })),
      ),
      (count, known) => {
        const recruits = recruiter({ experts, expertsPerQuestion: count, skills: known });
        for (const category of ["law", "art", "other"]) {
          expect(new Set(recruits(category)).size).toBe(count);
          expect(recruits(category)).toEqual(experts.filter((expert) => recruits(category).includes(expert)));
        }
      },
    ),
  );
});

const sampleOf = (correct: Record<string, readonly number[]>, categories: readonly string[]): AnswerSample => ({
  questionIds: categories.map((_, at) => `q${at}`),
  categories,
  models: Object.entries(correct).map(([model, right]) => ({
    model,
    answers: right.map(() => "x"),
    correct: Uint8Array.from(right, (one) => Math.max(0, one)),
    outputTokens: Int32Array.from(right, () => 5),
    asked: Uint8Array.from(right, (one) => (one < 0 ? 0 : 1)),
  })),
});

test("skills are shares of right answers, those of a category drawn towards the whole; what was not asked counts for nothing", () => {
  const sample = sampleOf({ a: [1, 1, 0, -1], b: [0, -1, -1, 1], c: [1, 1, 1, 1], d: [-1, -1, -1, -1] }, ["law", "law", "art", "art"]);
  const learnt = skillsOf(sample, ["a", "b", "d"]);
  expect(learnt["*"]).toEqual({ a: 2 / 3, b: 1 / 2 });
  expect(learnt.law?.a).toBeCloseTo((2 + 10 * (2 / 3)) / 12, 12);
  expect(learnt.art).toEqual({ a: (0 + 10 * (2 / 3)) / 11, b: (1 + 10 * (1 / 2)) / 11 });
});
