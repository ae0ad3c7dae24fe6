import type { PlanDiff } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { shownStep, waitingStep } from "../apply/applicationSteps";
import { rollOutOf } from "../apply/rollOutOf";
import type { Observation } from "../connector/connector";
import { type PlannedStep, planSteps, type RollOut } from "../steps/planSteps";
import { gpuKeys } from "../steps/targetEngines";
import { diffPlans } from "./diffPlans";

export interface ComparedPlans {
  readonly observation: Observation;
  readonly running: Plan | null;
  readonly target: Plan;
  readonly emulated: boolean;
}

/** The effect of putting `target` into force, computed by the code that does it. */
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

/**
 * Share of a model's serving GPUs that is out at the worst moment of a roll-out, 0..1, for the model affected most. Relative to the smaller
 * of the model's numbers before and after, so that an intended reduction is no dip.
 */
export function capacityDip({ standing, inForce, routing, target }: RollOut, steps: readonly PlannedStep[]): number {
  if (target.planId === null) return inForce.planId === null ? 0 : 1;
  const engines = new Map([...standing, ...target.engines].map((engine) => [engine.id, engine]));
  const gpus = (model: string, ids: readonly string[]): number => {
    const serving = ids.map((id) => engines.get(id)).filter((engine) => engine?.model === model);
    return serving.reduce((sum, engine) => sum + (engine === undefined ? 0 : gpuKeys(engine).length), 0);
  };
  const targetIds = target.engines.map((engine) => engine.id);
  const wanted = (model: string): number => {
    const before = inForce.models.includes(model) ? gpus(model, routing.active) : Number.POSITIVE_INFINITY;
    const after = target.models.includes(model) ? gpus(model, targetIds) : Number.POSITIVE_INFINITY;
    return Math.min(before, after);
  };
  let dip = 0;
  for (const { action } of steps) {
    if (!("routing" in action)) continue;
    const models = action.routing.planId === target.planId ? target.models : inForce.models;
    for (const model of models) {
      const full = wanted(model);
      if (full > 0) dip = Math.max(dip, 1 - gpus(model, action.routing.active) / full);
    }
  }
  return dip;
}
