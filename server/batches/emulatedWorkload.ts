import type { Observation } from "@/server/clusters/connector/connector";
import type { Store } from "@/server/store/store";

/** The newest workload that has answers of all these models, for engines that replay one; null: there is none. */
export function emulatedWorkload({ workloads }: Pick<Store, "workloads">, models: readonly string[]): string | null {
  return workloads.list().find((workload) => models.every((model) => workload.models.some((one) => one.model === model)))?.id ?? null;
}

/**
 * Why emulated engines cannot answer for these models, in a sentence; null: they can, or engines are real. Prompts of the workload they
 * replay, named by `[prompt id]`, are answered from it; any other prompt gets the answer of one of them.
 */
export function emulationProblem(
  store: Pick<Store, "workloads">,
  { outcomes }: Pick<Observation, "outcomes">,
  models: readonly string[],
): string | null {
  if (outcomes === null) {
    if (emulatedWorkload(store, models) !== null) return null;
    return `Its engines are emulated and have no prompts to replay, and no workload has answers of ${models.join(", ")}: import one that has all of them.`;
  }
  const replayed = store.workloads.summary(outcomes);
  const lacking = replayed === null ? [] : models.filter((model) => !replayed.models.some((one) => one.model === model));
  if (lacking.length === 0) return null;
  return `Its emulated engines replay "${replayed?.name}", which has no answers of ${lacking.join(", ")}: choose other models, or apply a plan on a workload that has them.`;
}
