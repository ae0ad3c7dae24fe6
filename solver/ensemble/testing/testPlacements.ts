import type { MilpEngine } from "@/solver/milp/engine";
import type { PlacementProblem, SessionCost } from "../placement/placement";

/** An engine that always times out: placements then rest on the search and on bounds by counting. */
export const noEngine: MilpEngine = { name: "none", solve: () => ({ status: "undecided" }) };

/** Linear seconds per prompt. */
export const linearCost =
  (secondsPerPrompt: number): SessionCost =>
  (prompts) =>
    secondsPerPrompt * prompts;

/** Seconds with a fixed part, so that small shards are less efficient. */
export const bentCost =
  (secondsPerPrompt: number, fixedSeconds: number): SessionCost =>
  (prompts) =>
    secondsPerPrompt * prompts + fixedSeconds * (1 - Math.exp(-prompts / 20));

/** A check instance: prompts of the source's MMLU-Pro (table 3); the optimum at K = 2 is 1491.85 s. */
export function checkInstance(maxModelsPerWorker: number): PlacementProblem {
  const figures = [
    ["LlamaR1", 1070, 2.34, 42],
    ["QwenR1", 1428, 1.73, 42],
    ["Gemma", 1632, 0.17, 45],
    ["Exaone", 547, 0.12, 40],
    ["GLM", 667, 0.1, 40],
    ["Qwen", 956, 0.129, 38],
  ] as const;
  const experts = figures.map(([name, prompts, secondsPerPrompt, loadSeconds]) => ({
    name,
    prompts,
    loadSeconds,
    cost: linearCost(secondsPerPrompt),
  }));
  return { workers: 4, maxModelsPerWorker, replicas: "amortised", experts };
}
