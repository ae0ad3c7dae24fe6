import { expect, it } from "vitest";
import { justInTime, testWorkflows } from "../testing/testJustInTime";
import { StagedPrograms } from "./programConfigurations";
import { StagedWorkflow } from "./stagedWorkflow";

const document = justInTime({ kind: "beam", width: 4 });
const [refine, vote] = testWorkflows.map((_, index) => new StagedWorkflow(document, index)) as [StagedWorkflow, StagedWorkflow];

it("keeps programs apart by workflow and name, and forgets those that ended", () => {
  const programs = new StagedPrograms();
  const one = programs.asked(refine, "p", 0);
  expect(programs.asked(refine, "p", 1)).toBe(one);
  expect(programs.asked(vote, "p", 0)).not.toBe(one);
  programs.ended(refine, "p");
  programs.ended(refine, "never");
  expect(programs.size).toBe(1);
  expect(programs.asked(refine, "p", 1)).not.toBe(one);
});

it("holds so many words of sets in all: those that began first go, and small programs are many where large ones are few", () => {
  // A set of 9 configurations is one word, one of 162 is six.
  expect([refine, vote].map(({ space }) => space.size)).toEqual([9, 162]);
  const programs = new StagedPrograms(36);
  for (let at = 0; at < 20; at += 1) programs.asked(refine, `r${at}`, 0);
  expect(programs.size).toBe(12);
  const kept = programs.asked(refine, "r19", 0);
  programs.asked(vote, "v", 0);
  expect(programs.size).toBe(7);
  expect(programs.asked(refine, "r19", 0)).toBe(kept);
  // A program that ended and one that restarted in its place leave as much room as it took.
  for (let at = 0; at < 50; at += 1) {
    programs.ended(refine, "r19");
    programs.asked(refine, "r19", 0).finished(0, false);
    programs.asked(refine, "r19", 0);
  }
  expect(programs.size).toBe(7);
});
