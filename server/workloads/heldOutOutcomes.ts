import type { EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";

/** What emulated engines replay for a workload: the prompts held out from planning, with every model's lengths, labels and judged scores. */
export function heldOutOutcomes({ name, outcomes, seed }: Pick<Workload, "name" | "outcomes" | "seed">): EmulatedOutcomes {
  const { heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  const pick = (column: Int32Array | Float64Array): number[] => Array.from(heldOut, (prompt) => column[prompt] ?? Number.NaN);
  return {
    name,
    promptIds: Array.from(heldOut, (prompt) => outcomes.promptIds[prompt] ?? ""),
    inputTokens: pick(outcomes.inputTokens),
    models: outcomes.models.map(({ model, outputTokens, label, judged }) => ({
      model,
      outputTokens: pick(outputTokens),
      label: pick(label),
      judged: pick(judged),
    })),
  };
}
