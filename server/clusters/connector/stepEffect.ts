import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import type { Observation } from "./connector";
import type { Look } from "./waitUntil";

/** The state of a cluster after a step. */
export interface Found {
  readonly observation: Pick<Observation, "engines" | "routing" | "outcomes">;
  /** The gateway's requests in flight at an engine; 0 for an engine that the gateway does not list. */
  readonly inFlightAt: (engineId: string) => number;
}

/**
 * Whether a step's effect is visible, whatever the step itself returned; if not, what was expected and what was found. `emulated`: engines
 * replay a workload's prompts.
 */
export function effectOf(action: StepAction, { observation, inFlightAt }: Found, emulated: boolean): Look {
  const { engines, routing, outcomes } = observation;
  const stands = (id: string): boolean => engines.some((engine) => engine.id === id && !engine.stopping);
  const differs = (expected: string, found: string): Look => ({ waiting: `expected ${expected}, found ${found}` });
  switch (action.kind) {
    case "load-outcomes":
      if (!emulated || outcomes === action.workloadId) return { holds: "its prompts are there" };
      return differs("the prompts of the plan's workload", outcomes === null ? "none" : "those of another workload");
    case "start":
      return stands(action.engine.id) ? { holds: "it is listed" } : differs(`${action.engine.id} among the engines`, listed(engines));
    case "verify":
      return stands(action.engineId) ? { holds: "it still stands" } : differs(`${action.engineId} among the engines`, listed(engines));
    case "switch-policy":
      return routed(action.routing, routing, stands) ?? { holds: "the gateway says that routing" };
    case "drain": {
      const requests = inFlightAt(action.engineId);
      const nothing = requests === 0 ? null : differs(`nothing in flight at ${action.engineId}`, `${requests} requests`);
      return routed(action.routing, routing, stands) ?? nothing ?? { holds: "it takes nothing new and has nothing in flight" };
    }
    case "stop": {
      const there = engines.some((engine) => engine.id === action.engineId);
      const gone = there ? differs(`${action.engineId} gone`, "it still there") : null;
      return routed(action.routing, routing, stands) ?? gone ?? { holds: "it is gone" };
    }
  }
}

/**
 * null: the gateway has the wanted routing. Cordoned engines that no longer exist need not be listed, and one more may be: if a model's
 * engines are all out, one of them stays listed.
 */
function routed(told: GatewayRouting, found: GatewayRouting, stands: (id: string) => boolean): Look | null {
  const samePlan = told.planId === found.planId;
  const sameActive = told.active.length === found.active.length && told.active.every((id) => found.active.includes(id));
  const cordoned = told.cordoned.every((id) => found.cordoned.includes(id) || !stands(id));
  if (samePlan && sameActive && cordoned) return null;
  return { waiting: `expected the gateway to send ${text(told)}, found ${text(found)}` };
}

const text = ({ planId, active, cordoned }: GatewayRouting): string => {
  const plan = planId === null ? "without a plan" : `by plan ${planId.slice(0, 8)}`;
  return `to ${listOf(active)} ${plan}${cordoned.length === 0 ? "" : ` and nothing new to ${listOf(cordoned)}`}`;
};

const listOf = (ids: readonly string[]): string => (ids.length === 0 ? "no engine" : ids.join(", "));
const listed = (engines: readonly { readonly id: string }[]): string => listOf(engines.map(({ id }) => id));
