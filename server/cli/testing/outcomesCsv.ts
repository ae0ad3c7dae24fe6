import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedWorkload } from "@/solver/workload/generated";

export const OUTCOMES_HEADER = "task,metric,prompt_id,category,in_tok,family,size_rank,model,score,out_tok";

/** 300 prompts on three models. */
export const { outcomes: generatedTable } = generatedWorkload({ prompts: 300, seed: 3 });

/** Their cells, in the order of the header. */
export const outcomeRows: readonly (readonly (string | number | undefined)[])[] = generatedTable.models.flatMap(
  ({ model, label, outputTokens }, rank) =>
    generatedTable.promptIds.map((id, prompt) => {
      const lengths = [generatedTable.inputTokens[prompt], "Fam", rank, model];
      return ["t", "correct", id, "t", ...lengths, (label[prompt] ?? 0) / 100, outputTokens[prompt]];
    }),
);

/** Writes the table, with one cell of one row changed, and returns its path. */
export function writeOutcomes(
  folder: string,
  name: string,
  { change = null, header = OUTCOMES_HEADER }: { readonly change?: CellChange | null; readonly header?: string } = {},
): string {
  const lines = outcomeRows.map((row, index) =>
    row.map((cell, column) => (index === change?.row && column === change.column ? change.to : cell)).join(","),
  );
  const file = join(folder, name);
  writeFileSync(file, `${header}\n${lines.join("\n")}\n`);
  return file;
}

interface CellChange {
  readonly row: number;
  readonly column: number;
  readonly to: string;
}
