/** A request as input of a round. */
export interface RoundRequest {
  /** Models that it may run on, as bits by their index. */
  readonly allowed: number;
  /** Configurations left to its program, where the choice of a model narrows them; null where it does not. */
  readonly left: Uint32Array | null;
  /** By model, the configurations in which its agent has that model. */
  readonly having: readonly Uint32Array[];
  /** Whether the request before it, and the one after it, is of the same program: a choice there narrows what is left here. */
  readonly continues: boolean;
  readonly continued: boolean;
}

/** The room of a round, and its requests. */
export interface RoundSlots {
  /** By model, the number of requests that its replicas may be given. */
  readonly free: Int32Array;
  /** Forecast gain in output tokens a second of so many more requests of a model. */
  gain(model: number, requests: number): number;
  /** The next request in order of precedence that may run on one of the models `open`, given as bits; undefined where there is none. */
  next(open: number): RoundRequest | undefined;
}

/** An assignment of models to a round's requests. */
export interface RoundAssignment {
  /** Forecast gain in output tokens a second. */
  readonly gain: number;
  /** Mean share of the accurate configurations that its requests keep, 0..1. */
  readonly flexibility: number;
  /** By request, the index of its model; -1 where it got none. */
  readonly choices: Int8Array;
}

/** Finds the assignments that add most throughput; among equals those that leave most configurations. Best first, never empty. */
export type RoundSearch = (round: RoundSlots) => readonly RoundAssignment[];
