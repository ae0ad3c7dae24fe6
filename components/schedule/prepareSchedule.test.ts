import { expect, it } from "vitest";
import { draftProblem, firstDraft, inOrder, nextTime, promisesText, shownThere, untilWords } from "./prepareSchedule";

const entries = [
  { at: "20:00", planId: "night" },
  { at: "07:30", planId: "day" },
];
const draft = { timeZone: "UTC", entries };

it("begins with the plan that is looked at and another one", () => {
  const plans = [{ id: "a" }, { id: "b" }];
  expect(firstDraft("UTC", plans, "b").entries.map(({ planId }) => planId)).toEqual(["b", "a"]);
  expect(firstDraft("UTC", plans, "not approved").entries.map(({ planId }) => planId)).toEqual(["a", "b"]);
  expect(draftProblem(firstDraft("UTC", [{ id: "a" }], "a"))).toMatch(/Choose an approved plan/);
});

it("says what keeps a draft from being set", () => {
  expect(draftProblem(draft)).toBeNull();
  expect(draftProblem({ ...draft, entries: entries.slice(1) })).toMatch(/at least two times/);
  expect(draftProblem({ ...draft, entries: [...entries, { at: "20:00", planId: "day" }] })).toMatch(/^20:00 is given twice/);
  expect(draftProblem({ ...draft, entries: [...entries, { at: "", planId: "day" }] })).toMatch(/a time of day/);
  expect(draftProblem({ ...draft, timeZone: " " })).toBe("Give a time zone.");
});

it("shows entries in the order of the day, and offers a time that is free", () => {
  expect(inOrder(entries).map(({ at }) => at)).toEqual(["07:30", "20:00"]);
  expect(nextTime(entries)).toBe("21:00");
  expect(nextTime([...entries, { at: "23:00", planId: "day" }])).toBe("00:00");
});

it("counts down in units that fit", () => {
  expect([-5, 44_100, 61_000, 3_600_000, 11_520_000].map(untilWords)).toEqual(["0 s", "45 s", "2 min", "1 h 0 min", "3 h 12 min"]);
});

it("shows an instant on the clock of the schedule's zone", () => {
  expect(shownThere("2026-07-17T18:00:00.000Z", "Europe/Berlin")).toBe("Fri 20:00");
});

it("tells plans apart by what they promise", () => {
  expect(promisesText({ quality: 81.25, p95Seconds: 2.5, gpus: 4 }).replaceAll("\u00a0", " ")).toBe("quality 81.3, p95 2.50 s, 4 GPUs");
  expect(promisesText({ quality: null, p95Seconds: null, gpus: 4 })).toMatch(/^not predicted, 4/);
});
