import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import type { WaitTimes } from "@/solver/workflow/learning/waitTimes";
import type { GatewayRounds } from "../gateway/gatewayRounds";
import type { GatewayWorkflows } from "../gateway/gatewayWorkflows";

/** What a cluster's gateway has learnt of workflows, if it can be asked. */
export type LearntWorkflows =
  /** The cluster is not connected. */
  | { readonly state: "no-gateway" }
  /** Its version does not learn workflows. */
  | { readonly state: "older" }
  | {
      readonly state: "there";
      readonly workflows: GatewayWorkflows;
      /** Engine seconds per wall second. */
      readonly timeScale: number;
      /** Whether its engines are emulated: then times are the emulator's. */
      readonly emulated: boolean;
      /** The policy in force; null while none is known. */
      readonly policy: { readonly order: OrderDocument["kind"]; readonly place: PlaceDocument["kind"] } | null;
    };

/** From the gateway's newest decision records. Seconds are engine seconds. */
export interface WaitedRecords {
  readonly waited: WaitTimes;
  readonly records: number;
}

/** The latest rounds of a cluster's gateway, if it can be asked. */
export type ObservedRounds =
  /** The cluster is not connected. */
  | { readonly state: "no-gateway" }
  /** Its version does not report rounds. */
  | { readonly state: "older" }
  | {
      readonly state: "there";
      readonly rounds: GatewayRounds;
      /** Engine seconds per wall second. */
      readonly timeScale: number;
    };
