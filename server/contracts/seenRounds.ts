import type { GatewayRounds } from "./gatewayRounds";

/** What a cluster's gateway did in its latest rounds, where it can be asked. */
export type SeenRounds =
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
