import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { seededRandom } from "@/solver/numeric/random";
import { generatedWorkload } from "@/solver/workload/generated";

/** Two models, a hundred prompts and a node of two GPUs. */
export const promptedSituation: PlanningSituation = {
  workload: generatedWorkload({ prompts: 100, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 }),
  workloadId: "w",
  cluster: { id: "c", name: "c", kind: "described", gpu: "l4", nodes: [{ name: "n1", gpus: 2 }], usdPerGpuHour: 1 },
  requestsPerSecond: 1,
};

/** Writes a text for each of its prompts; returns the file. */
export function writePromptTexts(folder: string): string {
  const file = join(folder, "prompts.csv");
  const random = seededRandom(1);
  const lines = promptedSituation.workload.outcomes.promptIds.map((id) => `${id},"solve, case ${random.int(9)}"`);
  writeFileSync(file, ["prompt_id,prompt", ...lines].join("\n"));
  return file;
}
