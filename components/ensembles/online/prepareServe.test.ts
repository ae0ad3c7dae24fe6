import { expect, it } from "vitest";
import { testEnsemble } from "../testing/testGate";
import { couldAnswer, serveDoubt } from "./prepareServe";

it("doubts nothing where every model has an engine", () => {
  expect(serveDoubt(testEnsemble(), ["a-1b", "b-3b", "c-7b", "d-70b", "other"])).toBeNull();
});

it("names the models that no engine has, and what is left of it", () => {
  expect(serveDoubt(testEnsemble(), ["a-1b", "b-3b"])).toBe(
    "The plan in force has no engine of c-7b, d-70b. 2 of 3 experts could answer. Where experts do not agree, the leading answer is returned.",
  );
  expect(serveDoubt(testEnsemble(), null)).toContain("No plan is in force");
});

it("holds nobody from serving what some expert could answer", () => {
  expect(couldAnswer(testEnsemble(), ["a-1b"])).toBe(true);
  expect(couldAnswer(testEnsemble(), ["d-70b"])).toBe(false);
  expect(couldAnswer(testEnsemble(), null)).toBe(false);
});
