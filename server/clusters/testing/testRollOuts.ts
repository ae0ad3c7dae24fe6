import * as fc from "fast-check";
import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { PlannedStep, RollOut } from "../steps/planSteps";
import { engineId, gpuKeys } from "../steps/targetEngines";

/** An engine of bf16 weights on GPUs of one node. */
export const engine = (model: string, gpus: readonly number[], node = "n1"): EngineOrder => {
  const shape = { tp: gpus.length, pp: 1 };
  const placements = [{ node, gpus: [...gpus] }];
  return { id: engineId({ model, precision: "bf16" }, shape, placements), model, precision: "bf16", gpu: "l40s", ...shape, placements };
};
const modelsOf = (engines: readonly EngineOrder[]) => [...new Set(engines.map((one) => one.model))];

/** A roll-out from a deployment in force to another. */
export const between = (before: readonly EngineOrder[], after: readonly EngineOrder[]): RollOut => ({
  standing: before.map((one) => ({ ...one, stopping: false })),
  routing: { planId: before.length === 0 ? null : "old", active: before.map((one) => one.id), cordoned: [] },
  inForce: { planId: before.length === 0 ? null : "old", models: modelsOf(before) },
  target: { planId: after.length === 0 ? null : "new", models: modelsOf(after), engines: after },
  loadOutcomes: null,
});
export const kinds = (steps: readonly PlannedStep[]) => steps.map((step) => step.action.kind);
export const touched = (steps: readonly PlannedStep[]) =>
  steps.flatMap(({ action }) => (action.kind === "start" ? [action.engine.id] : "engineId" in action ? [action.engineId] : []));

/** Divides a node's GPUs into engines of sizes 1, 2 and 4 of some models, leaving some GPUs free. */
export const deployment = fc
  .array(fc.record({ model: fc.constantFrom("a", "b", "c", null), size: fc.constantFrom(1, 2, 4) }), { minLength: 1, maxLength: 8 })
  .map((cuts) => {
    const engines: EngineOrder[] = [];
    let next = 0;
    for (const { model, size } of cuts) {
      if (next + size > 8) break;
      const gpus = Array.from({ length: size }, (_, index) => next + index);
      if (model !== null) engines.push(engine(model, gpus));
      next += size;
    }
    return engines;
  });

/** Carries out the steps on a model of the cluster; throws if a real one would refuse. */
export function carryOut(rollOut: RollOut, steps: readonly PlannedStep[]) {
  const standing = new Map<string, EngineRequest>(rollOut.standing.map((one) => [one.id, one]));
  const verified = new Set(rollOut.routing.active);
  let routing = rollOut.routing;
  const served: boolean[] = [];
  for (const { action } of steps) {
    if (action.kind === "start") {
      const taken = new Set([...standing.values()].flatMap(gpuKeys));
      if (gpuKeys(action.engine).some((key) => taken.has(key))) throw new Error(`${action.engine.id} would share a GPU`);
      standing.set(action.engine.id, action.engine);
    }
    if (action.kind === "verify") verified.add(action.engineId);
    if ("routing" in action) {
      routing = action.routing;
      for (const id of routing.active) {
        if (!verified.has(id)) throw new Error(`${id} gets requests before it is verified`);
        if (!standing.has(id)) throw new Error(`${id} gets requests but does not stand`);
      }
      const models = routing.planId === rollOut.target.planId ? rollOut.target.models : rollOut.inForce.models;
      served.push(models.every((model) => routing.active.some((id) => standing.get(id)?.model === model)));
    }
    if (action.kind === "stop") {
      if (routing.active.includes(action.engineId)) throw new Error(`${action.engineId} is stopped while it gets requests`);
      standing.delete(action.engineId);
      verified.delete(action.engineId);
    }
  }
  return { standing: [...standing.keys()].sort(), routing, served };
}
