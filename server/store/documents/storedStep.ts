import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { ApplyStep } from "@/server/contracts/studio";

/** Which plan's policy the gateway runs, and over which engines, from one step on. */
export interface GatewayRouting {
  /** null: nothing is in force. */
  readonly planId: string | null;
  readonly active: readonly string[];
  /** Finishing what they have, taking nothing new. */
  readonly cordoned: readonly string[];
}

/** What a step does, complete enough to be carried out by a studio that has just been restarted. */
export type StepAction =
  | { readonly kind: "load-outcomes"; readonly workloadId: string }
  | { readonly kind: "start"; readonly engine: EngineOrder }
  | { readonly kind: "verify"; readonly engineId: string; readonly model: string }
  | { readonly kind: "switch-policy"; readonly routing: GatewayRouting }
  | { readonly kind: "drain"; readonly engineId: string; readonly routing: GatewayRouting }
  | { readonly kind: "stop"; readonly engineId: string; readonly routing: GatewayRouting };

/** A step as shown, with what it does. */
export interface StoredStep extends Omit<ApplyStep, "engineId"> {
  readonly action: StepAction;
}
