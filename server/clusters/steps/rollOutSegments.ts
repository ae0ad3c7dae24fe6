import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import type { GatewayRouting } from "@/server/store/documents/storedStep";
import type { PlannedStep, RollOut } from "./planSteps";

/** Steps of a roll-out during which requests are sent to the same engines under the same plan. */
export interface Segment {
  /** Counting from 0, both included. */
  readonly fromStep: number;
  readonly toStep: number;
  readonly planId: string | null;
  /** Models whose engines the policy in force needs. */
  readonly models: readonly string[];
  /** Engines that take requests. */
  readonly engines: readonly EngineRequest[];
}

/** A roll-out divided where its routing changes: every step is in one segment, in order. A step that changes routing begins one. */
export function rollOutSegments(rollOut: RollOut, steps: readonly PlannedStep[]): readonly Segment[] {
  const known = new Map([...rollOut.target.engines, ...rollOut.standing].map((engine) => [engine.id, engine]));
  const segments: Segment[] = [];
  let routing = rollOut.routing;
  for (const [index, { action }] of steps.entries()) {
    if ("routing" in action) routing = action.routing;
    const last = segments.at(-1);
    const next = segment(routing, index);
    if (last !== undefined && sameServing(last, next)) segments.splice(-1, 1, { ...last, toStep: index });
    else segments.push(next);
  }
  return segments;

  function segment({ planId, active }: GatewayRouting, step: number): Segment {
    const { target, inForce } = rollOut;
    const models = planId === null ? [] : planId === target.planId ? target.models : inForce.models;
    // An engine that the gateway still lists may no longer exist.
    const engines = active.flatMap((id) => known.get(id) ?? []).filter(({ model }) => models.includes(model));
    return { fromStep: step, toStep: step, planId, models, engines };
  }
}

const sameServing = (a: Segment, b: Segment): boolean =>
  a.planId === b.planId && a.engines.length === b.engines.length && a.engines.every(({ id }) => b.engines.some((other) => other.id === id));
