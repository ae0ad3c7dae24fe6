import type { MissingForConfidence } from "@/server/contracts/studio";
import { withTrainedConfidence } from "@/server/planning/planner/trainedConfidence";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { promptSetOf } from "./textsOf";

/**
 * What keeps plans of a workload from the confidences of a trained predictor; nothing is missing where one was trained, even if the texts
 * are deleted since. Reads the whole workload: some 10 ms.
 *
 * @returns what is missing; also for a workload that is not stored.
 */
export function missingForConfidence(store: Store, workloadId: string): readonly MissingForConfidence[] {
  const workload = loadWorkload(store, workloadId);
  if (workload !== null && withTrainedConfidence(store, workload) !== null) return [];
  return promptSetOf(store, workloadId) === null ? ["no-predictor", "no-texts"] : ["no-predictor"];
}
