import { expect, it } from "vitest";
import { panicCommand, panicModel, preparePanicSteps, standingPanic } from "./preparePanicSteps";

it("says what becomes of requests that wait, run and would escalate, and how to undo it", () => {
  const text = preparePanicSteps({ model: "large-70b", engines: 2 }).join(" ");
  for (const part of [
    /Waiting requests restart/,
    /finishes its current answer/,
    /escalated/,
    /2 engines/,
    /Clear panic/,
    /weir panic --clear/,
  ]) {
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

const named = (...models: readonly string[]) => models.map((model) => ({ model }));

it("offers the largest model by its name, wherever it stands", () => {
  expect(panicModel(named("llama-3.1-8b", "llama-3.1-405b-fp8", "llama-3.1-70b"))?.model).toBe("llama-3.1-405b-fp8");
});

it("offers the last where names tell no size, and none where there is none", () => {
  expect(panicModel(named("small", "large"))?.model).toBe("large");
  expect(panicModel([])).toBeNull();
});
