import type { PlanDraft } from "../plan/plan";
import type { OutcomeTable } from "../workload/workload";
import type { System } from "./system";

/**
 * The plan as a system to simulate.
 *
 * @param outcomes the whole table, with the router's scores where the plan has a direct start.
 */
export const systemOf = ({ deployment, policy }: PlanDraft, outcomes: OutcomeTable): System => ({
  name: "Weir",
  stages: policy.stages.map(({ model }) => ({
    model,
    replicas: (deployment.find((own) => own.model === model)?.replicas ?? []).map(({ tp, pp, count }) => ({ shape: { tp, pp }, count })),
  })),
  routing: {
    kind: "cascade",
    thresholds: policy.thresholds,
    ...(policy.directStart === undefined ? {} : { directStart: { ...policy.directStart, prescored: outcomes } }),
  },
});
