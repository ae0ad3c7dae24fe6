import { describe, expect, it } from "vitest";
import { judgePrompt, parseScore } from "./judgePrompt";

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

describe("parseScore", () => {
  it.each<[string, number | null]>([
    ["87", 87],
    [" Score: 100.", 100],
    ["0", 0],
    ["90/100", 90],
    ["101", null],
    ["-5", null],
    ["very good", null],
    ["", null],
  ])("reads %j as %j", (reply, score) => {
    expect(parseScore(reply)).toBe(score);
  });
});
