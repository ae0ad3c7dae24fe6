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
  const right = promptIds.map((id) => rightLetter(seed, id));
  return {
    questionIds: promptIds,
    categories,
    models: models.map(({ model, label, outputTokens }) => {
      return {
        model,
        answers: letterVotes(
          right.map((letter, at) => ({ right: letter, label: label[at] ?? 0 })),
          { seed, model },
        ),
        correct: Uint8Array.from(label, (quality) => (isRightLabel(quality) ? 1 : 0)),
        outputTokens,
        asked: new Uint8Array(promptIds.length).fill(1),
      };
    }),
  };
}

/** The index of the right letter of a question. */
export const rightLetter = (seed: number, id: string): number => seededRandom(mixSeed(seed, "right letter", id)).int(letters.length);

/** A model's votes by the labels of its answers: the right letter, or another one drawn by the seed. */
export function letterVotes(
  answers: readonly { readonly right: number; readonly label: number }[],
  { seed, model }: { readonly seed: number; readonly model: string },
): readonly (string | null)[] {
  const random = seededRandom(mixSeed(seed, "wrong letters", model));
  return answers.map(({ right, label }) => {
    const step = 1 + random.int(letters.length - 1);
    return letters[(right + (isRightLabel(label) ? 0 : step)) % letters.length] ?? null;
  });
}
