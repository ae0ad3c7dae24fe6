import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import type { WaitTimes } from "@/solver/workflow/learning/waitTimes";
import type { GatewayRounds } from "../gateway/gatewayRounds";
import type { GatewayWorkflows } from "../gateway/gatewayWorkflows";

/** What a cluster's gateway has learnt of workflows, where it can be asked. */
export type LearntWorkflows =
  /** The cluster is not connected. */
  | { readonly state: "no-gateway" }
  /** Its version learns nothing of workflows. */
  | { readonly state: "older" }
  | {
      readonly state: "there";
      readonly workflows: GatewayWorkflows;
      /** Engine seconds in a wall second. */
      readonly timeScale: number;
      /** Whether its engines are emulated: then times are the emulator's. */
      readonly emulated: boolean;
      /** The policy in force; null while none is known. */
      readonly policy: { readonly order: OrderDocument["kind"]; readonly place: PlaceDocument["kind"] } | null;
    };

/** Of the gateway's newest decision records. Seconds are engine seconds. */
export interface WaitedRecords {
  readonly waited: WaitTimes;
  readonly records: number;
}

/** What a cluster's gateway did in its latest rounds, where it can be asked. */
export type ObservedRounds =
  /** The cluster is not connected. */
  | { readonly state: "no-gateway" }
  /** Its version knows nothing of rounds. */
  | { readonly state: "older" }
  | {
      readonly state: "there";
      readonly rounds: GatewayRounds;
      /** Engine seconds in a wall second. */
      readonly timeScale: number;
    };
