import type { PlanDiff } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { shownStep, waitingStep } from "../apply/applicationSteps";
import { rollOutOf } from "../apply/rollOutOf";
import type { Observation } from "../connector/connector";
import { capacityDip } from "../steps/capacityDip";
import { planSteps } from "../steps/planSteps";
import { gpuKeys } from "../steps/targetEngines";
import { diffPlans } from "./diffPlans";

export interface ComparedPlans {
  readonly observation: Observation;
  readonly running: Plan | null;
  readonly target: Plan;
  readonly emulated: boolean;
}

/** What putting `target` into force would do, made by the code that then does it. */
export function planDiff({ observation, running, target, emulated }: ComparedPlans): PlanDiff {
  const rollOut = rollOutOf(observation, target, emulated);
  const steps = planSteps(rollOut);
  const gpus = observation.nodes.reduce((sum, node) => sum + node.gpus, 0);
  return {
    planId: target.id,
    againstPlanId: running?.id ?? null,
    lines: diffPlans(running, target, observation.topology),
    steps: steps.map((step, index) => shownStep(waitingStep(step, index))),
    capacityDip: capacityDip(rollOut, steps),
    spareGpus: gpus - new Set(observation.engines.flatMap(gpuKeys)).size,
    notes: observation.notes ?? [],
  };
}
