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

export interface NextPlacement {
  readonly workId: string;
  readonly agent: string | null;
  readonly queuedSinceSeconds: number;
  /** Null where it fits nowhere now and is held back, or waits behind what is. */
  readonly replicaId: string | null;
  /** Expected most tokens over all slots at the replica with it; null where it is held back. */
  readonly peakTokens: number | null;
}
