import type { WorkloadSummary } from "@/server/contracts/studio";
import { versionText } from "./prepareWorkloads";

/** Workloads to choose from, in the given order; those that share a name are distinguished by version. */
export function workloadOptions(workloads: readonly Pick<WorkloadSummary, "id" | "name" | "version">[]): { value: string; text: string }[] {
  const shared = (name: string): boolean => workloads.filter((each) => each.name === name).length > 1;
  return workloads.map((each) => ({ value: each.id, text: shared(each.name) ? `${each.name} ${versionText(each)}` : each.name }));
}
