import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import type { WaitedFor } from "@/solver/workflow/waitedFor";
import type { GatewayWorkflows } from "./gatewayWorkflows";

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
  readonly waited: WaitedFor;
  readonly records: number;
}
