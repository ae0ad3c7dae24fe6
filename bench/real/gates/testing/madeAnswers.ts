import type { AnswerEvidence } from "@/solver/gates/gates";
import type { AskedAnswers } from "../askedAnswers";

/** An answer whose smallest probability is known; the judge's score is the same in percent. */
export const madeEvidence = (answer: string, others: readonly string[], least = 0.5): AnswerEvidence => ({
  ...{ prompt: "7+8", answer, inputTokens: 6, outputTokens: 3, endedByLength: false, others, judgedScore: 100 * least },
  tokens: { texts: [...answer, ""], logProbabilities: Float64Array.from([0.9, least, 0.99], Math.log) },
});

const COUNT = 40;

/** Forty answers: the even ones are right, sure and agreed on; of the samples of the others a third agrees. */
export const madeAnswers: AskedAnswers = {
  questions: [],
  evidence: Array.from({ length: COUNT }, (_, at) =>
    at % 2 === 0 ? madeEvidence("15", ["15", "15", "15"], 0.98) : madeEvidence("16", ["16", "15", "17"], 0.3),
  ),
  label: Float64Array.from({ length: COUNT }, (_, at) => (at % 2 === 0 ? 100 : 0)),
  nextLabel: new Float64Array(COUNT).fill(100),
};
