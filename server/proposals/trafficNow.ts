import type { TrafficToPlan } from "@/server/contracts/studio/promise";
import type { Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { RATE } from "@/solver/numeric/drift";
import type { Plan } from "@/solver/plan/plan";
import { ENOUGH_MIRRORED, observedWorkload, withMirroredAnswers } from "@/solver/workload/observedWorkload";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import type { Workload } from "@/solver/workload/workload";

export interface ObservedTraffic {
  readonly plan: Plan;
  /** What the plan was made from. */
  readonly workload: Workload;
  readonly requests: readonly ObservedRequest[];
  /** Those that the mirror sent through all models; empty: no mirror ran. */
  readonly mirrored: readonly ObservedRequest[];
  /** As measured; null: not known. */
  readonly requestsPerSecond: number | null;
  /** Names of the quantities that are no longer as planned. */
  readonly changed: readonly string[];
  readonly nowMs: number;
}

/** The plan's workload at the observed rate if only the rate has changed, otherwise one made from observations, which is then stored. */
export function trafficNow(store: Store, { plan, workload, requests, mirrored, changed, nowMs, ...seen }: ObservedTraffic): TrafficToPlan {
  const planned = plan.inputs.workload;
  const requestsPerSecond = (changed.includes(RATE) ? seen.requestsPerSecond : null) ?? planned.requestsPerSecond;
  const rateOnly = {
    ...{ workloadId: planned.id, requestsPerSecond },
    basis: ["Lengths and scores have not drifted: they are the workload's."],
  };
  if (changed.every((name) => name === RATE)) return rateOnly;
  const name = `${workload.name.replace(/, seen .*$/, "")}, seen ${new Date(nowMs).toISOString().slice(0, 16).replace("T", " ")}`;
  const isEnough = mirrored.length >= ENOUGH_MIRRORED;
  const made = observedWorkload(workload, isEnough ? withMirroredAnswers(workload, requests, mirrored) : requests, name);
  if (made === null) return { ...rateOnly, basis: ["Too few lengths were seen to plan with: lengths and scores are the workload's."] };
  return {
    workloadId: storeWorkload(store, made),
    requestsPerSecond,
    basis: isEnough
      ? [
          `Lengths and scores are those seen. Those of models that a request did not reach are of the most similar of ${mirrored.length} mirrored requests, which all models answered.`,
          "Modelled by like prompts of the workload: labels. Longer is not taken for harder.",
        ]
      : [
          "Lengths and scores are those seen. A later stage's are seen on requests sent on to it only.",
          ...(mirrored.length === 0
            ? []
            : [
                `${mirrored.length} requests were mirrored, fewer than the ${ENOUGH_MIRRORED} that stand for the others: they are not used.`,
              ]),
          "Modelled by like prompts of the workload: labels, and answers of models that a request did not reach. Longer is not taken for harder.",
        ],
  };
}
