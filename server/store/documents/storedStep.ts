import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { ApplyStep } from "@/server/contracts/studio";

/** The gateway's policy by its plan, and the engines it uses, from one step on. */
export interface GatewayRouting {
  /** null: nothing is in force. */
  readonly planId: string | null;
  readonly active: readonly string[];
  /** They finish their requests and take no new ones. */
  readonly cordoned: readonly string[];
}

/** The action of a step, complete enough to be carried out by a studio that has just been restarted. */
export type StepAction =
  | { readonly kind: "load-outcomes"; readonly workloadId: string }
  | { readonly kind: "start"; readonly engine: EngineOrder }
  | { readonly kind: "verify"; readonly engineId: string; readonly model: string }
  | { readonly kind: "switch-policy"; readonly routing: GatewayRouting }
  | { readonly kind: "drain"; readonly engineId: string; readonly routing: GatewayRouting }
  | { readonly kind: "stop"; readonly engineId: string; readonly routing: GatewayRouting };

/** A step for display, with its action. */
export interface StoredStep extends Omit<ApplyStep, "engineId"> {
  readonly action: StepAction;
}
