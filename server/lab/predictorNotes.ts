import type { Artefact } from "@/server/contracts/studio";

/**
 * What trained predictors that a run names may have learnt of the very prompts that it serves, a sentence each. A predictor that was trained on
 * the run's workload was held back from them, and nothing is said of it.
 */
export const predictorNotes = (predictors: readonly Pick<Artefact, "hash" | "training">[], workloadId: string): readonly string[] =>
  predictors.flatMap(({ hash, training: { source, emulated, workloadId: own, workloadName } }) => {
    const name = `The predictor ${hash.slice(0, 12)}`;
    if (source === "traffic")
      return emulated
        ? `${name} learnt from traffic of emulated engines, which replay held-out prompts: those of this run may be among them, and it may look better than it is.`
        : `${name} learnt from traffic: prompts of this run may have been among it, and it may look better than it is.`;
    if (source === "executed runs")
      return `${name} learnt from executed runs in ${workloadName}: prompts of this run may have been among their inputs, and it may look better than it is.`;
    return own === workloadId
      ? []
      : `${name} learnt from another workload, ${workloadName}: prompts of this run may have been among its own, and it may look better than it is.`;
  });
