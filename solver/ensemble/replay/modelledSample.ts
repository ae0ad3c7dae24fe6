import { isRightLabel } from "@/solver/judging/agreement";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { AnswerSample } from "./answerSample";

const letters = ["A", "B", "C", "D"] as const;

/**
 * A sample modelled from the labels of outcomes: every question has four letters, of which one is right; a model whose label is that of a
 * right answer gives that one, and any other one of the three wrong ones, drawn by the seed. Wrong answers of real models agree more often than drawn
 * ones.
 */
export function modelledSample({ promptIds, categories, models }: OutcomeTable, seed: number): AnswerSample {
  const right = promptIds.map((id) => seededRandom(mixSeed(seed, "right letter", id)).int(letters.length));
  return {
    questionIds: promptIds,
    categories,
    models: models.map(({ model, label, outputTokens }) => {
      const random = seededRandom(mixSeed(seed, "wrong letters", model));
      return {
        model,
        answers: right.map((letter, at) => {
          const step = 1 + random.int(letters.length - 1);
          return letters[(letter + (isRightLabel(label[at] ?? 0) ? 0 : step)) % letters.length] ?? null;
        }),
        correct: Uint8Array.from(label, (quality) => (isRightLabel(quality) ? 1 : 0)),
        outputTokens,
        asked: new Uint8Array(promptIds.length).fill(1),
      };
    }),
  };
}
