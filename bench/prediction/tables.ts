import { mean } from "@/solver/numeric/quantile";
import { table } from "../lib/tables";
import { CORRELATIONS, type ConfidenceErrors, type LengthErrors } from "./heldOutErrors";

/** Errors of one ladder's models on one task, by split. */
export interface LadderErrors {
  readonly family: string;
  readonly task: string;
  readonly lengths: readonly (readonly LengthErrors[])[];
  readonly confidence: readonly (readonly ConfidenceErrors[])[];
}

const three = (value: number): string => value.toFixed(3);

/** Mean over splits, and in brackets the spread between splits. */
const ranged = (values: readonly number[]): string =>
  `${three(mean(values))} (${three(Math.min(...values))}-${three(Math.max(...values))})`;

/** Distances of the length order, by model, in Markdown. */
export function lengthTable(ladders: readonly LadderErrors[]): string {
  const head = [
    "task",
    "model",
    "single answers",
    "input",
    ...CORRELATIONS.flatMap((of) => [`programs, ${of}`, "stage alone", "input", "FCFS"]),
  ];
  const rows = ladders.flatMap(({ task, lengths }) =>
    (lengths[0] ?? []).map(({ model }, index) => {
      const of = lengths.flatMap((split) => split[index] ?? []);
      const programs = CORRELATIONS.flatMap((_, at) => {
        const errors = of.flatMap((each) => each.programs[at] ?? []);
        const over = (figure: "learnt" | "usual" | "input" | "arrival"): readonly number[] => errors.map((error) => error[figure]);
        return [ranged(over("learnt")), ...(["usual", "input", "arrival"] as const).map((of) => three(mean(over(of))))];
      });
      return [task, model, ranged(of.map(({ single }) => single.learnt)), three(mean(of.map(({ single }) => single.input))), ...programs];
    }),
  );
  return table(head, rows);
}

/** How well heads separate right from wrong, by model and their mean over a ladder, in Markdown. */
export function confidenceTable(ladders: readonly LadderErrors[]): string {
  const head = ["task", "model", "AUC", "average precision", "right (a coin's precision)", "calibration error"];
  const rows = ladders.flatMap(({ task, family, confidence }) => {
    const models = confidence[0] ?? [];
    const lineOf = (name: string, of: readonly (readonly ConfidenceErrors[])[]): readonly string[] => {
      const over = (figure: "auc" | "averagePrecision" | "rightShare" | "calibrationError") =>
        of.map((split) => mean(split.map((error) => error[figure])));
      return [
        ...[task, name, ranged(over("auc")), ranged(over("averagePrecision"))],
        ...[three(mean(over("rightShare"))), three(mean(over("calibrationError")))],
      ];
    };
    return [
      ...models.map(({ model }) =>
        lineOf(
          model,
          confidence.map((split) => split.filter((error) => error.model === model)),
        ),
      ),
      lineOf(`macro mean, ${family}`, confidence),
    ];
  });
  return table(head, rows);
}

/** A ladder's confidence heads on words and on an encoder, by split. */
export interface EncoderErrors {
  readonly family: string;
  readonly task: string;
  readonly words: readonly (readonly ConfidenceErrors[])[];
  readonly encoder: readonly (readonly ConfidenceErrors[])[];
}

/** Confidence heads on words beside those on an encoder's embeddings, by model and their mean over all, in Markdown. */
export function encoderTable(ladders: readonly EncoderErrors[]): string {
  const head = [
    "task",
    "model",
    "AUC, words",
    "AUC, encoder",
    "average precision, words",
    "encoder",
    "calibration error, words",
    "encoder",
  ];
  const of = (splits: readonly (readonly ConfidenceErrors[])[], model: string) =>
    splits.map((split) => split.filter((error) => error.model === model));
  const over = (splits: readonly (readonly ConfidenceErrors[])[], figure: "auc" | "averagePrecision" | "calibrationError") =>
    splits.map((split) => mean(split.map((error) => error[figure])));
  const lineOf = (task: string, name: string, words: EncoderErrors["words"], encoder: EncoderErrors["encoder"]): readonly string[] => [
    ...[task, name, ranged(over(words, "auc")), ranged(over(encoder, "auc"))],
    ...[three(mean(over(words, "averagePrecision"))), three(mean(over(encoder, "averagePrecision")))],
    ...[three(mean(over(words, "calibrationError"))), three(mean(over(encoder, "calibrationError")))],
  ];
  const lines = ladders.flatMap(({ task, words, encoder }) =>
    (words[0] ?? []).map(({ model }) => lineOf(task, model, of(words, model), of(encoder, model))),
  );
  const whole = (part: "words" | "encoder") =>
    (ladders[0]?.[part] ?? []).map((_, split) => ladders.flatMap((ladder) => ladder[part][split] ?? []));
  return table(head, [...lines, lineOf("all", "mean", whole("words"), whole("encoder"))]);
}
