import type { ModelLimits } from "@/solver/hardware/engineLimits";
import type { Endpoint } from "./connection";

const least = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.flatMap((value) => (value === undefined ? [] : [value]));
  return known.length === 0 ? undefined : Math.min(...known);
};

/**
 * Limits of each model's engines for the planner, which models engines of one shape alike: the least that is known of any of them.
 * A model of whose engines none is known has no entry.
 */
export function endpointLimits(endpoints: readonly Endpoint[]): ModelLimits[] {
  return [...new Set(endpoints.map(({ model }) => model))].flatMap((model): ModelLimits[] => {
    const known = endpoints.flatMap((one) => (one.model === model && one.limits !== undefined ? [one.limits] : []));
    const maxSequences = least(known.map((limits) => limits.maxSequences));
    const maxBatchedTokens = least(known.map((limits) => limits.maxBatchedTokens));
    if (maxSequences === undefined && maxBatchedTokens === undefined) return [];
    return [
      {
        model,
        ...(maxSequences === undefined ? {} : { maxSequences }),
        ...(maxBatchedTokens === undefined ? {} : { maxBatchedTokens }),
        source: known.every(({ source }) => source === "engine") ? "engine" : "operator",
      },
    ];
  });
}
