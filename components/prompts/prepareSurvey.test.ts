import { expect, it } from "vitest";
import type { PromptSurvey } from "@/server/contracts/studio";
import { prepareSurvey } from "./prepareSurvey";

const survey = (change: Partial<PromptSurvey> = {}): PromptSurvey => ({
  ...{ form: "chat", prompts: 100, skipped: 0, badLines: [], meanCharacters: 400, withTime: 0, withReference: 40, withTest: 0 },
  ...{ multiTurn: 10, withTools: 0, cutPrompts: 0, categories: [{ name: "maths", prompts: 60 }] },
  ...{
    categories: [
      { name: "maths", prompts: 60 },
      { name: "", prompts: 40 },
    ],
  },
  ...change,
});

it("says how many prompts there are in which form, and how many lines were skipped", () => {
  expect(prepareSurvey(survey()).says).toBe("100 prompts in chat lines.");
  expect(prepareSurvey(survey({ form: "batch", skipped: 3 })).says).toBe("100 prompts in OpenAI batch lines, 3 lines skipped.");
});

it("counts the skipped lines that are not listed", () => {
  const badLines = [{ line: 7, problem: "is no JSON" }];
  expect(prepareSurvey(survey({ skipped: 1, badLines })).moreBadLines).toBe(0);
  expect(prepareSurvey(survey({ skipped: 25, badLines })).moreBadLines).toBe(24);
});

it("draws the largest categories and sums the rest in one line, so that shares add to one", () => {
  const categories = Array.from({ length: 12 }, (_, index) => ({ name: `c${index}`, prompts: index === 0 ? 45 : 5 }));
  const picture = prepareSurvey(survey({ categories }));
  expect(picture.categories).toHaveLength(9);
  expect(picture.categories.at(-1)?.name).toBe("4 more");
  expect(picture.categories.reduce((sum, each) => sum + each.share, 0)).toBeCloseTo(1);
  expect(prepareSurvey(survey()).categories[1]?.name).toBe("without a category");
});

it("says what cannot be measured without references and tests, and what a record that was cut is left out for", () => {
  expect(prepareSurvey(survey()).lacks).toEqual([]);
  expect(prepareSurvey(survey({ withReference: 0 })).lacks[0]).toContain("only come from judges");
  expect(prepareSurvey(survey({ cutPrompts: 2 })).lacks[0]).toContain("2 records kept only the start");
});
