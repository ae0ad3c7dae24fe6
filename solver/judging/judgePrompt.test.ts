import { describe, expect, it } from "vitest";
import { judgePrompt, rubricProblem, rubricPrompt } from "./judgePrompt";

describe("judgePrompt", () => {
  it("ends in the question and the answer", () => {
    const prompt = judgePrompt("user: Why?", "Because.");
    expect(prompt.endsWith("[question]\nuser: Why?\n\n[answer]\nBecause.")).toBe(true);
  });

  it("keeps the start and the end of texts too long to judge", () => {
    const long = (start: string, end: string) => `${start}${"x".repeat(100_000)}${end}`;
    const prompt = judgePrompt(long("the task", "the question"), long("the opening", "the answer"));
    expect(prompt.length).toBeLessThan(60_000);
    expect(prompt).toContain("[question]\nthe task");
    expect(prompt).toContain("the question\n");
    expect(prompt).toContain("[answer]\nthe opening");
    expect(prompt.endsWith("the answer")).toBe(true);
  });

  it("leaves no half of a character where it cuts", () => {
    const shown = judgePrompt("🙂".repeat(1000), "x", { rubric: "{prompt} {answer}", maxCharacters: 101 });
    expect(shown).toMatch(/^(🙂)+ \[\.\.\.\] (🙂)+ x$/u);
  });

  it("takes an operator's own words, and puts nothing into what clients and models wrote", () => {
    const rubric = "Grade {answer} for {prompt}; once more: {answer}.";
    expect(judgePrompt("{answer} $& $1", "{prompt}", { rubric })).toBe("Grade {prompt} for {answer} $& $1; once more: {prompt}.");
  });

  it("is bounded by the settings", () => {
    const prompt = judgePrompt("x".repeat(50_000), "y".repeat(50_000), { rubric: "{prompt}|{answer}", maxCharacters: 1000 });
    expect(prompt.length).toBeLessThan(2_020);
  });
});

describe("rubrics", () => {
  const texts = { prompt: "Why?", answer: "Because.", reference: "So that.", other: "Hm." };

  it("shows each kind what it judges, the answer last but for pairs", () => {
    expect(rubricPrompt("reference", texts).endsWith("[question]\nWhy?\n\n[reference answer]\nSo that.\n\n[answer]\nBecause.")).toBe(true);
    expect(rubricPrompt("pairwise", texts).endsWith("[question]\nWhy?\n\n[answer A]\nBecause.\n\n[answer B]\nHm.")).toBe(true);
  });

  it.each([
    ["rubric", "Grade {answer}", "The rubric needs the place {prompt}, so that the judge sees what it judges."],
    ["pairwise", "Which? {prompt}", "The rubric needs the places {answer} and {other}, so that the judge sees what it judges."],
    [
      "rubric",
      "{prompt} {answer} {reference}",
      "The rubric has the place {reference}, and a measure of this kind has nothing to put there.",
    ],
    [
      "reference",
      "{prompt} {answer} {reference} {other}",
      "The rubric has the place {other}, and a measure of this kind has nothing to put there.",
    ],
    ["reference", 'Reply as {"score": 1} to {prompt} {answer} {reference}', null],
  ] as const)("of kind %s tells what is wrong with %j", (kind, rubric, problem) => {
    expect(rubricProblem(kind, rubric)).toBe(problem);
  });
});
