import { expect, test } from "vitest";
import { emulatedOutcomesSchema } from "@/server/contracts/engine/emulatorAdmin";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { heldOutOutcomes } from "./heldOutOutcomes";

test("emulated engines get the rows of the held-out prompts, and no prompt the planner planned on", () => {
  const workload = generatedWorkload({ prompts: 200, seed: 3 });
  const replayed = emulatedOutcomesSchema.parse(heldOutOutcomes(workload));
  const { planning } = splitPrompts(200, workload.seed);
  expect(replayed.promptIds.length).toBe(60);
  for (const prompt of planning) expect(replayed.promptIds).not.toContain(workload.outcomes.promptIds[prompt]);
  replayed.promptIds.forEach((id, row) => {
    const prompt = workload.outcomes.promptIds.indexOf(id);
    expect(replayed.inputTokens[row]).toBe(workload.outcomes.inputTokens[prompt]);
    workload.outcomes.models.forEach(({ model, outputTokens, label, judged }, at) => {
      const rows = replayed.models[at]!;
      expect([rows.model, rows.outputTokens[row], rows.label[row], rows.judged[row]]).toEqual([
        model,
        outputTokens[prompt],
        label[prompt],
        judged[prompt],
      ]);
    });
  });
});
