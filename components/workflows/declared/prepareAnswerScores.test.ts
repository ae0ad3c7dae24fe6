import { expect, it } from "vitest";
import { prepareAnswerScores } from "./prepareAnswerScores";

it("says which models' answers are scored and by what, what a client notices, and what scores bring", () => {
  const scored = [
    { model: "small", by: "smallest token probability" },
    { model: "medium", by: "scorer of 3 features" },
  ];
  const { canScore, says } = prepareAnswerScores({ data: { ok: true, scored }, error: null });
  expect(canScore).toBe(true);
  expect(says).toMatch(
    /^Agents' answers are scored: those of small by smallest token probability, those of medium by scorer of 3 features\. Their/,
  );
  expect(says).toContain("0.2 to 0.6 points");
});

it("offers no scores where they are refused, while that is not known, and where it cannot be asked", () => {
  const refused = { ok: false as const, message: "The workload traffic has no column of confidence." };
  expect(prepareAnswerScores({ data: refused, error: null })).toEqual({
    canScore: false,
    says: "Answers cannot be scored. The workload traffic has no column of confidence.",
  });
  expect(prepareAnswerScores({ data: undefined, error: null })).toMatchObject({
    canScore: false,
    says: expect.stringMatching(/^Checking/),
  });
  expect(prepareAnswerScores({ data: undefined, error: new Error("The studio does not answer.") })).toEqual({
    canScore: false,
    says: "The studio does not answer.",
  });
});
