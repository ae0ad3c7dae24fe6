/** The expected memory of each replica at a place that packs memory, and the current target of waiting work. */
export interface MemoryForecast {
  readonly nowSeconds: number;
  readonly slotSeconds: number;
  readonly replicas: readonly ReplicaMemory[];
  /** The first waiting requests of each model, in the order in which they would leave. */
  readonly next: readonly NextPlacement[];
}

export interface ReplicaMemory {
  readonly replicaId: string;
  readonly model: string;
  /** Null where its capacity is unknown: then it counts as having room. */
  readonly capacityTokens: number | null;
  readonly inFlight: number;
  /** Maximum number in flight there; 0: it takes no work. */
  readonly seats: number;
  /** Expected maximum of each slot from now on, as far ahead as anything is expected. */
  readonly slotTokens: readonly number[];
  /** Why no work is sent to it at present; null where work may be sent. */
  readonly suspended: string | null;
  /**
   * The requests there, sorted by expected end, ascending. `untilSeconds` before now: the request is late; null: its duration is unknown,
   * and it counts for as long as it is there.
   */
  readonly requests: readonly { readonly workId: string; readonly agent: string | null; readonly untilSeconds: number | null }[];
}

/**
 * Why work is not sent now: every replica that would take it has its maximum number of requests (`seats`); with it more tokens would be
 * held at some time than fit (`memory`); no work is sent to any of them until pressure has cleared (`pressure`); none takes work
 * (`closed`); or a replica would take it, but is kept for work that was passed over too often (`behind`).
 */
export type HeldBack = "seats" | "memory" | "pressure" | "closed" | "behind";

export interface NextPlacement {
  readonly workId: string;
  readonly agent: string | null;
  readonly queuedSinceSeconds: number;
  /** The replica that it goes to now; null where it is held back. */
  readonly replicaId: string | null;
  /** null where it goes now. */
  readonly held: HeldBack | null;
  /** The replica that held-back work would go to by the current forecast if only seats and its turn were missing; null if none. */
  readonly laterReplicaId: string | null;
  /** Expected maximum of tokens over all slots with it, at the replica that it goes to now or later; null without either. */
  readonly peakTokens: number | null;
}
