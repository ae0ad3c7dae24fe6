import type { AnswerSampleSummary } from "@/server/contracts/studio/ensembles";
import type { AnswerSample, SampledModel } from "@/solver/ensemble/replay/answerSample";

/** Most categories of a sample that are listed; ensembles recruit by all of them. */
const mostCategories = 200;

/** The summary of a sample in lists. Figures of a model cover the questions that it was asked. */
export function sampleSummary({
  questionIds,
  categories = [],
  models,
}: AnswerSample): Pick<AnswerSampleSummary, "questions" | "models" | "categories"> {
  const named = [...new Set(categories)].filter((category) => category !== "").sort();
  return { questions: questionIds.length, models: models.map(modelFigures), categories: named.slice(0, mostCategories) };
}

function modelFigures({ model, answers, correct, outputTokens, asked }: SampledModel): AnswerSampleSummary["models"][number] {
  let [questions, right, voted, tokens] = [0, 0, 0, 0];
  for (const [at, vote] of answers.entries()) {
    if (asked[at] !== 1) continue;
    questions += 1;
    right += correct[at] ?? 0;
    voted += vote === null ? 0 : 1;
    tokens += outputTokens[at] ?? 0;
  }
  const of = (sum: number): number => (questions === 0 ? 0 : sum / questions);
  return { model, accuracy: of(right), voted: of(voted), meanTokens: of(tokens) };
}
