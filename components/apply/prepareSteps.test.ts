import { expect, it } from "vitest";
import type { ApplyStep, JournalLine } from "@/server/contracts/studio";
import { notesOf, prepareJournal, prepareSteps, progressOf } from "./prepareSteps";

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`;

const step = (id: string, change: Partial<ApplyStep> = {}): ApplyStep => ({
  ...{ id, kind: "start", text: `Start ${id}`, state: "waiting", detail: "", startedAt: null, endedAt: null, engineId: `engine-${id}` },
  ...change,
});

const line = (stepId: string | null, event: JournalLine["event"], detail = ""): JournalLine => ({ at: at(1), stepId, event, detail });

const words = (steps: readonly ApplyStep[], journal: readonly JournalLine[]) => prepareSteps(steps, journal, null).map(({ word }) => word);

it("tells a step whose effect was looked up anew from one that was only done", () => {
  const done = { state: "done", startedAt: at(0), endedAt: at(2) } as const;
  expect(
    words(
      [step("1", { ...done, kind: "verify" }), step("2", done)],
      [line("1", "intended"), line("1", "done"), line("1", "verified"), line("2", "done")],
    ),
  ).toEqual(["verified", "done"]);
});

it("does not call an engine verified that was only started", () => {
  expect(words([step("1", { state: "done" })], [line("1", "done"), line("1", "verified")])).toEqual(["started, loading"]);
});

it("does not call a step verified that was done again since, and tells a cut step from one that never began", () => {
  expect(words([step("1", { state: "done" })], [line("1", "verified"), line("1", "intended")])).toEqual(["done"]);
  expect(words([step("1", { state: "skipped" }), step("2", { state: "skipped" })], [line("1", "cut")])).toEqual(["interrupted", "skipped"]);
});

it("says what a running step is at and for how long, and offers the log of its engine", () => {
  const running = step("1", { state: "running", startedAt: at(0), detail: "3 requests in flight" });
  expect(prepareSteps([running], [], Date.parse(at(42)))[0]).toMatchObject({
    detail: "Now: 3 requests in flight",
    took: "42\u00a0s",
    logOf: "engine-1",
  });
});

it("has no log for a step that is not begun, nor for one that brings no engine up", () => {
  const drain = step("1", { kind: "drain", state: "done", startedAt: at(0), endedAt: at(1) });
  expect(prepareSteps([drain, step("2")], [], null).map(({ logOf, took }) => [logOf, took])).toEqual([
    [null, "1.0 s"],
    [null, ""],
  ]);
});

it("numbers the lines of steps, also of one that was planned away since, and keeps those of the whole apart", () => {
  const journal = [line(null, "said", "taken up"), line("1", "intended"), line("9", "cut")];
  expect(prepareJournal(journal, [step("1")]).map((each) => each.step)).toEqual(["", "step 1", "an earlier step"]);
  expect(notesOf(journal, { error: null, halt: null }).map(({ detail }) => detail)).toEqual(["taken up"]);
});

it("repeats in no note what is told as the error or the halt", () => {
  const journal = [
    line(null, "said", "taken up"),
    line(null, "said", "Halted: no answer."),
    line(null, "said", "Ended: failed. It is gone."),
  ];
  const halt = { at: at(1), because: "step", sentence: "no answer." } as const;
  expect(notesOf(journal, { error: "It is gone.", halt }).map(({ detail }) => detail)).toEqual(["taken up"]);
});

it("counts as done only what was done, and says of a cancelled roll-out that it changed nothing", () => {
  const steps = [step("1", { state: "done" }), step("2", { state: "skipped" }), step("3")];
  expect(progressOf({ state: "running", steps })).toBe("1 of 3 steps done, 1 skipped");
  expect(progressOf({ state: "done", steps: steps.slice(0, 1) })).toBe("1 of 1 steps done");
  expect(progressOf({ state: "aborted", steps: [step("1", { state: "skipped" })] })).toBe("cancelled before anything was changed");
});
