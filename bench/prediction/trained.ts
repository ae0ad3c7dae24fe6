import { mixSeed } from "@/solver/numeric/random";
import { trainConfidence } from "@/solver/prediction/confidence";
import { trainLengths } from "@/solver/prediction/lengths";
import { confidenceRowsOf, lengthRowsOf } from "@/solver/prediction/programRows";
import { sketchOf } from "@/solver/words/sketch";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import { answersOf, type Ladder, workflowsOf } from "../lib/ladders";
import { once } from "../lib/once";
import type { Prompts } from "./heldOutErrors";

const TRAINED_PROGRAMS = 3000;

export async function promptsOf(ladder: Ladder): Promise<Prompts & { readonly words: readonly string[] }> {
  const { workload, texts } = await answersOf(ladder);
  const { outcomes } = workload;
  return {
    outcomes,
    texts: { sketches: texts.map((text) => (text === null ? null : sketchOf(text))), promptTokens: outcomes.inputTokens },
    words: texts.map((text) => text ?? ""),
  };
}

/** Both predictors of the Llama ladder on maths, trained once. */
export const trained = once(async () => {
  const prompts = await promptsOf({ family: "Llama-3.1-Instruct", task: "gsm", replicas: [] });
  const { planning, heldOut } = splitPrompts(prompts.outcomes.promptIds.length, 1);
  const draw = (rows: Int32Array, count: number) =>
    drawPrograms({
      outcomes: prompts.outcomes,
      prompts: rows,
      mix: workflows.filter(({ name }) => workflowsOf.gsm.includes(name)).map((workflow) => ({ workflow, share: 1 })),
      correlation: 0.5,
      arrivalSeconds: Float64Array.from({ length: count }, (_, at) => at),
      seed: mixSeed(1, rows.length),
    });
  const rows = lengthRowsOf(draw(planning, TRAINED_PROGRAMS), prompts.texts);
  const [beforeLengths, cpuBefore] = [performance.now(), process.cpuUsage()];
  const lengths = trainLengths(rows, { seed: 1 });
  const beforeConfidence = performance.now();
  const confidence = trainConfidence(confidenceRowsOf(prompts.outcomes, planning, prompts.texts), { seed: 1 });
  const cpu = process.cpuUsage(cpuBefore);
  return {
    ...{ prompts, heldOut, draw, rows, lengths, confidence },
    lengthSeconds: (beforeConfidence - beforeLengths) / 1000,
    confidenceSeconds: (performance.now() - beforeConfidence) / 1000,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
});
