import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generatedWorkload } from "../solver/workload/generated";

/** Files to import, and what to choose from them. */
export interface WorkloadFiles {
  readonly outcomes: string;
  readonly family: string;
  /** null: no trace, arrivals are generated. */
  readonly arrivals: string | null;
  /** Whether these are published results and a production trace. */
  readonly real: boolean;
}

const data = fileURLToPath(new URL("../../shared/data", import.meta.url));
const LADDER = ["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"];

/** The real table and trace where they are available; else a generated table of the same ladder, written as CSV. */
export function workloadFiles(): WorkloadFiles {
  const outcomes = join(data, "quality", "cascade_outcomes.csv");
  const arrivals = join(data, "traces", "AzureLLMInferenceTrace_conv.csv");
  if (existsSync(outcomes) && existsSync(arrivals)) return { outcomes, family: "Llama-3.1-Instruct", arrivals, real: true };
  return { outcomes: writeGenerated(), family: "Generated", arrivals: null, real: false };
}

function writeGenerated(): string {
  const { outcomes: table } = generatedWorkload({ prompts: 2_000, ladder: LADDER, seed: 11 });
  const rows = table.models.flatMap(({ model, outputTokens, label }, rank) =>
    table.promptIds.map((id, prompt) =>
      [
        table.categories[prompt],
        "correct",
        id,
        table.categories[prompt],
        table.inputTokens[prompt],
        "Generated",
        rank,
        model,
        (label[prompt] ?? 0) / 100,
        outputTokens[prompt],
      ].join(","),
    ),
  );
  const file = join(mkdtempSync(join(tmpdir(), "weir-outcomes-")), "outcomes.csv");
  writeFileSync(file, `task,metric,prompt_id,category,in_tok,family,size_rank,model,score,out_tok\n${rows.join("\n")}\n`);
  return file;
}
