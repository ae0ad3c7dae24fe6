import { expect, it } from "vitest";
import { panicCommand, preparePanicSteps, standingPanic } from "./preparePanicSteps";

it("says what becomes of requests that wait, run and would escalate, and how to undo it", () => {
  const text = preparePanicSteps({ model: "large-70b", engines: 2 }).join(" ");
  for (const part of [/wait begin anew/, /finishes the answer/, /escalated/, /2 engines/, /Lift panic/, /weir panic --lift/]) {
    expect(text).toMatch(part);
  }
});

it("says of a panic that stands whose it is, why, and that another one takes its place", () => {
  const text = standingPanic({ model: "large-70b", reason: "wrong answers", by: "ada", sinceMs: 0 });
  expect(text).toMatch(/large-70b, ordered by ada .*\(wrong answers\)\. Another one replaces/);
});

it("gives the command with a reason that a shell takes as one word", () => {
  expect(panicCommand("large-70b", "")).toBe("weir panic large-70b --reason WHY");
  expect(panicCommand("large-70b", "it's wrong")).toBe("weir panic large-70b --reason 'it'\\''s wrong'");
});
