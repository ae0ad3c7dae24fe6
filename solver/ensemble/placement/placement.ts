/** Seconds of one session of an expert from its first prompt to its last answer, by its number of prompts; without loading. Never falls. */
export type SessionCost = (prompts: number) => number;

/** An expert with all its prompts (MOSAIC, section 4.1.1). */
export interface PlacedExpert {
  readonly name: string;
  /** R_m. */
  readonly prompts: number;
  /** l_m: from an empty GPU to the first prompt. */
  readonly loadSeconds: number;
  /** G_m. */
  readonly cost: SessionCost;
}

/** Experts to be placed on workers that hold one model at a time and run sessions one after another. */
export interface PlacementProblem {
  readonly workers: number;
  readonly experts: readonly PlacedExpert[];
  /** K: maximum number of sessions of one worker, each of another expert. */
  readonly maxModelsPerWorker: number;
  /** Maximum number of workers of an expert: as many as its time amortises a load each (equation 8), or one. */
  readonly replicas: "amortised" | "single";
}

/** One load of an expert on a worker and the prompts it answers there. */
export interface Session {
  /** Index into the problem's experts. */
  readonly expert: number;
  readonly prompts: number;
}

/** The sessions of each worker, in order. */
export interface Schedule {
  readonly workers: readonly (readonly Session[])[];
  /** Whether all workers wait for one another after each of their sessions, as under data-concurrent replication. */
  readonly barrier: boolean;
}
