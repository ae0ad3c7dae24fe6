import { type ImportedColumn, importedColumns } from "@/solver/workload/gateColumns";

/** Columns of a model, one value for each prompt; NaN where it is missing. */
export interface AnswerColumns extends Readonly<Record<"outputTokens" | "label" | "judged" | ImportedColumn, number[]>> {
  readonly sizeRank: number;
}

/**
 * The models' columns with those gate columns that every prompt of a table has.
 *
 * @param places the prompts of the table.
 * @returns `incomplete`: a phrase for each gate column that only some of them have, which is left out.
 */
export function wholeGateColumns(byModel: ReadonlyMap<string, AnswerColumns>, places: readonly number[]) {
  const incomplete: string[] = [];
  const answersOf = new Map(
    [...byModel].map(([model, { confidence, agreement, ...answers }]) => {
      const columns = { confidence, agreement };
      const whole = importedColumns.filter((name) => {
        const missing = places.filter((place) => Number.isNaN(columns[name][place])).length;
        if (missing > 0 && missing < places.length)
          incomplete.push(`no ${name} of ${model}, which is missing for ${missing} of ${places.length} answers`);
        return missing === 0;
      });
      return [model, { ...answers, ...Object.fromEntries(whole.map((name) => [name, columns[name]])) }];
    }),
  );
  return { answersOf, incomplete };
}
