import type { Plan } from "@/solver/plan/plan";
import { listedModelsOf } from "@/solver/plan/policySchema";
import type { Observation } from "../connector/connector";
import type { RollOut } from "../steps/planSteps";
import { targetEngines } from "../steps/targetEngines";

/** The roll-out from an observation to a plan, or to nothing. `emulated`: engines replay the plan's workload. */
export function rollOutOf(observation: Observation, target: Plan | null, emulated: boolean): RollOut {
  const { engines, routing, policyModels, outcomes, topology } = observation;
  const workloadId = target?.inputs.workload.id ?? null;
  return {
    standing: engines,
    routing,
    inForce: { planId: routing.planId, models: policyModels },
    target: {
      planId: target?.id ?? null,
      models: target === null ? [] : listedModelsOf(target),
      engines: target === null ? [] : targetEngines(target),
    },
    loadOutcomes: emulated && workloadId !== outcomes ? workloadId : null,
    ...(topology === undefined ? {} : { topology }),
  };
}
