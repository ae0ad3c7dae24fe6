import type { PlannedStep, RollOut } from "./planSteps";
import { gpuKeys } from "./targetEngines";

/**
 * Share of a model's serving GPUs that is out at the worst moment of a roll-out, 0..1, for the model hit hardest.
 * Measured against the smaller of what the model has before and after, so that a wanted reduction is no dip.
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
