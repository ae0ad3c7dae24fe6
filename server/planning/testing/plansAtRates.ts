import { workloadHash } from "@/server/workloads/workloadCodec";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { mean } from "@/solver/numeric/quantile";
import { gpuCount } from "@/solver/plan/clusterGpus";
import type { Objective } from "@/solver/plan/plan";
import type { PlanningDesk } from "../planner/planningDesk";
import type { RateCase } from "./rateCase";
import type { RatePlan } from "./rateMonotony";

/** The best plan at each rate of a case, computed as in command line and studio; null if there is none. */
export function plansAtRates(desk: PlanningDesk, of: RateCase): readonly (RatePlan | null)[] {
  const situation = situationOf(of);
  const objective = objectiveOf(of, situation, desk);
  return of.rates.map((requestsPerSecond) => solved(desk, { ...situation, requestsPerSecond }, objective));
}

/** A case at its lowest rate. */
export function situationOf(of: RateCase): PlanningSituation {
  const { workload, cluster, userCards, engineProfile, constraints, rates } = of;
  return {
    ...{ workload, workloadId: workloadHash(workload), cluster, userCards, engineProfile, constraints },
    requestsPerSecond: rates[0] ?? 1,
    judge: { kind: "fixed", secondsPerCall: of.judgeSeconds, usdPerCall: 0 },
  };
}

/** The case's objective. A budget is derived from the fastest plan at the lowest rate, so that it is neither trivial nor unreachable. */
function objectiveOf({ kind, floorShare, budgetFactor, workload }: RateCase, situation: PlanningSituation, desk: PlanningDesk): Objective {
  const labels = workload.outcomes.models.map(({ label }) => mean(label));
  const lowest = labels[0] ?? 0;
  // Plans are made on a part of the prompts, whose means may be lower.
  const floor = 0.9 * (lowest + floorShare * ((labels.at(-1) ?? lowest) - lowest));
  const fastest: Objective = {
    kind: "latency-under-quality",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor: Math.min(100, floor),
    qualityConfidence: null,
    latencyBudgetSeconds: null,
    maxGpus: gpuCount(situation.cluster),
  };
  if (kind === "latency-under-quality") return fastest;
  const light = solved(desk, situation, fastest);
  const latencyBudgetSeconds = light === null ? 1 : budgetFactor * light.p95Seconds;
  return { ...fastest, kind, latencyBudgetSeconds, qualityFloor: kind === "quality-under-latency" ? null : fastest.qualityFloor };
}

function solved(desk: PlanningDesk, situation: PlanningSituation, objective: Objective): RatePlan | null {
  const answer = desk.work(situation, { kind: "solve", objective, fixed: null }, () => false);
  if (answer.kind !== "draft") return null;
  const { p95Seconds, p95Band, quality, costUsdPerHour } = answer.draft.predictions;
  return { p95Seconds, spreadSeconds: p95Band.high - p95Seconds, quality, costUsdPerHour };
}
