import { describe, expect, it } from "vitest";
import { judgePrompt, parseScore } from "./judgePrompt";

describe("judgePrompt", () => {
  it("ends in the question and the answer", () => {
    const prompt = judgePrompt("user: Why?", "Because.");
    expect(prompt.endsWith("[question]\nuser: Why?\n\n[answer]\nBecause.")).toBe(true);
  });

  it("keeps the ends of texts too long to judge", () => {
    const prompt = judgePrompt(`${"x".repeat(100_000)}the question`, `${"y".repeat(100_000)}the answer`);
    expect(prompt.length).toBeLessThan(60_000);
    expect(prompt).toContain("the question");
    expect(prompt.endsWith("the answer")).toBe(true);
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
