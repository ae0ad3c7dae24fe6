import { expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { testPath, testVoting } from "../testing/testRounds";
import { heldBySays, programInView, programOptions } from "./prepareProgram";

const voting = testVoting(4);
const last = 3 ** 5 - 1;

it("shows the program that is named, as it was known last where the gateway tells of it no more, else the newest", () => {
  const [old, current] = ["old", "new"].map((programId) => testPath(voting, { members: [last], programId }));
  if (old === undefined || current === undefined) throw new Error("two programs");
  expect(programInView([current, old], "old", null)).toEqual({ path: old, isKept: false });
  expect(programInView([current], "old", old)).toEqual({ path: old, isKept: true });
  expect(programInView([current], "old", null)).toEqual({ path: current, isKept: false });
  expect(programInView([current], null, old)).toEqual({ path: current, isKept: false });
  expect(programInView([], null, null).path).toBeNull();
});

it("lists programs by workflow, by how far they are and by what is left, and names them", () => {
  const path = testPath(voting, { members: [0, 1, last], kept: [1, last], chosen: [0, -1, -1, -1, -1], programId: "p7" });
  expect(programOptions([path])).toEqual([{ value: "p7", text: "voting: 1 of 5 agents have a model, 2 of 3 left (p7)" }]);
  expect(programOptions([{ ...path, chosen: [0, 0, 0, 0, 1] }])[0]?.text).toContain("every agent has its model");
});

it("says by which predictor configurations are held to be accurate, that it learnt from executed or modelled outcomes, and why there may be but one", () => {
  const policyOf = (predictor?: string) =>
    ({ kind: "just-in-time", workflows: [{ workflow: voting, predictor }] }) as unknown as PolicyDocument;
  const hash = "f".repeat(64);
  const path = testPath(voting, { members: [0, 1, last] });
  expect(heldBySays(path, policyOf(hash))).toBe(
    "3 configurations are predicted accurate by predictor ffffffff, which learnt from executed or modelled outcomes.",
  );
  expect(heldBySays({ ...path, accurate: testPath(voting, { members: [last] }).accurate }, policyOf(hash))).toContain("accepted no other");
  expect(heldBySays(path, policyOf())).toContain("names no predictor");
  expect(heldBySays({ ...path, workflow: "other" }, policyOf(hash))).toContain("another plan");
  expect(heldBySays(path, null)).toBe("");
});
