import { expect, it } from "vitest";
import { answerLimit } from "./answerLimit";

it("lets an answer be as long as both the question and the ensemble allow", () => {
  expect(answerLimit(8000, 512)).toBe(512);
  expect(answerLimit(200, 512)).toBe(200);
  expect(answerLimit(200, undefined)).toBe(200);
  expect(answerLimit(null, 512)).toBe(512);
  expect(answerLimit(null, undefined)).toBeUndefined();
});
