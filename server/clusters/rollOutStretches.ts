import type { EngineRequest } from "@/server/contracts/emulatorAdmin";
import type { GatewayRouting } from "@/server/store/storedStep";
import type { PlannedStep, RollOut } from "./planSteps";

/** Steps of a roll-out during which requests go to the same engines under the same plan. */
export interface Stretch {
  /** Counting from 0, both included. */
  readonly fromStep: number;
  readonly toStep: number;
  readonly planId: string | null;
  /** That the policy in force needs engines of. */
  readonly models: readonly string[];
  /** Those that take requests. */
  readonly engines: readonly EngineRequest[];
}

/** A roll-out cut where its routing changes: every step is in one stretch, in order. A step that changes routing begins one. */
export function rollOutStretches(rollOut: RollOut, steps: readonly PlannedStep[]): readonly Stretch[] {
  const known = new Map([...rollOut.target.engines, ...rollOut.standing].map((engine) => [engine.id, engine]));
  const stretches: Stretch[] = [];
  let routing = rollOut.routing;
  for (const [index, { action }] of steps.entries()) {
    if ("routing" in action) routing = action.routing;
    const last = stretches.at(-1);
    const next = stretch(routing, index);
    if (last !== undefined && sameServing(last, next)) stretches.splice(-1, 1, { ...last, toStep: index });
    else stretches.push(next);
  }
  return stretches;

  function stretch({ planId, active }: GatewayRouting, step: number): Stretch {
    const { target, inForce } = rollOut;
    const models = planId === null ? [] : planId === target.planId ? target.models : inForce.models;
    // One that the gateway still lists may be gone.
    const engines = active.flatMap((id) => known.get(id) ?? []).filter(({ model }) => models.includes(model));
    return { fromStep: step, toStep: step, planId, models, engines };
  }
}

const sameServing = (a: Stretch, b: Stretch): boolean =>
  a.planId === b.planId && a.engines.length === b.engines.length && a.engines.every(({ id }) => b.engines.some((other) => other.id === id));
