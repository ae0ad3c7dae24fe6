import { expect, it } from "vitest";
import { AGGREGATE_ALL, type Ensemble } from "../gate/ensembleDocument";
import { aggregatedShare } from "./aggregatedShare";
import type { AnswerSample } from "./answerSample";

const ensemble: Ensemble = {
  ...{ name: "trio", experts: ["a", "b", "c"], expertsPerQuestion: 3, extraction: { kind: "choice" }, confidence: { kind: "plurality" } },
  ...{ tau: 2 / 3, aggregator: { model: "d" }, quorum: 2, deadlineSeconds: 60 },
};

/** Answers of each model, one letter per question: `-` without a vote, a space where it was not asked. */
function sampleOf(answers: Readonly<Record<string, string>>, categories?: readonly string[]): AnswerSample {
  const letters = Object.entries(answers).map(([model, text]) => ({ model, each: [...text] }));
  return {
    questionIds: letters[0]!.each.map((_, at) => `q${at}`),
    ...(categories && { categories }),
    models: letters.map(({ model, each }) => ({
      model,
      answers: each.map((one) => (one === "-" || one === " " ? null : one)),
      correct: new Uint8Array(each.length),
      outputTokens: new Int32Array(each.length).fill(10),
      asked: Uint8Array.from(each, (one) => (one === " " ? 0 : 1)),
    })),
  };
}

it("is that of the questions on which experts agree less than tau, a missing vote being no agreement", () => {
  const sample = sampleOf({ a: "AAAA", b: "AABA", c: "ABC-" });
  expect(aggregatedShare(ensemble, sample)).toBe(1 / 4);
  expect(aggregatedShare({ ...ensemble, tau: 1 }, sample)).toBe(3 / 4);
  expect(aggregatedShare({ ...ensemble, tau: AGGREGATE_ALL }, sample)).toBe(1);
});

it("counts the questions that all experts recruited for them were asked, and none where there are no such", () => {
  expect(aggregatedShare(ensemble, sampleOf({ a: "AA", b: "BA", c: "C " }))).toBe(1);
  expect(aggregatedShare(ensemble, sampleOf({ a: "A", b: "A" }))).toBeNull();
  // For law a and b are asked, for anything else a and c, whose answers differ there.
  const skilled: Ensemble = {
    ...{ ...ensemble, expertsPerQuestion: 2, tau: 1 },
    skills: { law: { a: 0.9, b: 0.8, c: 0.1 }, "*": { a: 0.9, b: 0.1, c: 0.8 } },
  };
  expect(aggregatedShare(skilled, sampleOf({ a: "AA", b: "AA", c: "BB" }, ["law", "art"]))).toBe(1 / 2);
});
