import type { MixGround } from "@/solver/mix/mixGround";
import type { SolvedMix } from "@/solver/mix/solveMix";
import type { MixPredictions } from "@/solver/plan/plan";
import type { MixOutcome } from "./simulateMix";

/** Simulated figures of every class of a mix, beside what the MILP planned. */
export function classFigures({ classes }: MixGround, { shares }: SolvedMix, { figures }: MixOutcome): MixPredictions["classes"] {
  return classes.map(({ name, requestsPerSecond, floor, candidates }, at) => {
    const own = figures.workflows?.find(({ workflow }) => workflow === name);
    const plannedQuality = (shares[at] ?? []).reduce((sum, share, one) => sum + share * (candidates[one]?.quality ?? 0), 0);
    return {
      ...{ name, perSecond: requestsPerSecond, qualityFloor: floor, plannedQuality: Math.min(100, plannedQuality) },
      ...{ quality: own?.quality ?? null, meanSeconds: own?.meanSeconds ?? 0, p95Seconds: own?.latencyQuantiles[95] ?? 0 },
      simulated: own?.programs ?? 0,
    };
  });
}
