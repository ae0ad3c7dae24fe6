/** What a place that packs memory expects of each replica, and where what waits would go now. */
export interface MemoryForecast {
  readonly nowSeconds: number;
  readonly slotSeconds: number;
  readonly replicas: readonly ReplicaMemory[];
  /** The first few that wait for each model, in the order in which they would leave. */
  readonly next: readonly NextPlacement[];
}

export interface ReplicaMemory {
  readonly replicaId: string;
  readonly model: string;
  /** Null where nobody says how much it holds: then it counts as having room. */
  readonly capacityTokens: number | null;
  readonly inFlight: number;
  /** Most that may be in flight there; 0: it takes no work. */
  readonly seats: number;
  /** Expected most of each slot from now on, as far as anything is expected. */
  readonly slotTokens: readonly number[];
  /** Why nothing is sent to it for the moment; null where something may be. */
  readonly suspended: string | null;
  /**
   * What is there: the later it is expected to end the later it stands. `untilSeconds` before now: it runs late; null: nothing says how long it
   * takes, and it counts for as long as it is there.
   */
  readonly requests: readonly { readonly workId: string; readonly agent: string | null; readonly untilSeconds: number | null }[];
}

/**
 * Why work is not sent now: every replica that would take it has as many requests as it may have (`seats`); with it more would be held somewhere
 * than fits (`memory`); nothing is sent to any of them until pressure has cleared (`pressure`); none takes work (`closed`); or a replica would
 * take it, but what goes before it waits (`behind`).
 */
export type HeldBack = "seats" | "memory" | "pressure" | "closed" | "behind";

export interface NextPlacement {
  readonly workId: string;
  readonly agent: string | null;
  readonly queuedSinceSeconds: number;
  /** Where it goes now; null where it is held back. */
  readonly replicaId: string | null;
  /** null where it goes now. */
  readonly held: HeldBack | null;
  /** Where what is held back would go, by what is expected now, if nothing lacked but seats and its turn; null where that would not do. */
  readonly laterReplicaId: string | null;
  /** Expected most tokens over all slots with it, at the replica where it goes now or would go later; null without either. */
  readonly peakTokens: number | null;
}
