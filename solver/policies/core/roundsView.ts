/** Maximum number of requests of a round that each assignment is shown for. */
export const MOST_REQUESTS_SHOWN = 64;

/** The latest rounds of a policy that decides in rounds (Aragog, section 3.2), newest first, a bounded number of them. */
export interface RoundsView {
  readonly rounds: readonly Round[];
  readonly programs: readonly ProgramPath[];
}

/** One round: the room there was, and the requests that got it. */
export interface Round {
  readonly nowSeconds: number;
  /** Requests that were compared, and those of them that none of the free engines may serve. */
  readonly weighed: number;
  readonly passedOver: number;
  readonly models: readonly ModelSlots[];
  /** Requests that some free engine might have served, and their partial assignments kept at the end. 0 where nothing could be sent. */
  readonly requests: number;
  readonly kept: number;
  /** The best of those kept, best first; the first was carried out, but for requests that their place held back. */
  readonly candidates: readonly RoundCandidate[];
}

/** The engines of a model before a round. */
export interface ModelSlots {
  readonly model: string;
  /** Replicas that take work; if there is none, whether any may again soon. */
  readonly replicas: number;
  readonly down: boolean;
  /** Requests in flight, and the number from which the throughput no longer rises, over those replicas. */
  readonly inFlight: number;
  readonly saturation: number;
  /** Maximum number of requests that they were given. */
  readonly free: number;
}

/** An assignment of models to waiting requests. */
export interface RoundCandidate {
  /** Output tokens a second that it is forecast to add, as a share of what all engines that take work write at saturation. */
  readonly utilisationGain: number;
  /** Mean share of the accurate configurations that its requests keep, 0..1. */
  readonly flexibility: number;
  /** By model, as the round lists them, the requests that it gives. */
  readonly given: readonly number[];
  /** Assignments of the first `MOST_REQUESTS_SHOWN` requests of the round. */
  readonly assignments: readonly RoundAssigned[];
}

/** A request's model in a round. */
interface RoundAssigned {
  readonly workId: string;
  readonly programId: string;
  readonly agent: string;
  readonly model: string;
  /** Where the round chose by worth. */
  readonly terms?: WorthTerms | undefined;
}

/** The terms of one model for one request, in seconds: `worth.ts` has the formula. */
export interface WorthTerms {
  /** `mu * q`: the chance that the answer is right, 0..1, in seconds that a right answer is worth. */
  readonly surenessSeconds: number;
  /** `L`: until the model has answered, the wait for a free slot included. */
  readonly latencySeconds: number;
  /** `D`: what the request's tokens there delay others by, all together. */
  readonly priceSeconds: number;
  /** `lambda * T`: the plan's price of the request's tokens there, corrected by the backlog; 0 where tokens have no price. */
  readonly planPriceSeconds: number;
  /** The least `L + D + lambda * T` of what its program still has to do if this model is taken. */
  readonly restSeconds: number;
}

/** A program's way through its workflow's configurations. Sets are of `configurationSet.ts`. */
export interface ProgramPath {
  readonly programId: string;
  readonly workflow: string;
  readonly agents: readonly string[];
  readonly models: readonly string[];
  /** Configurations of the workflow in all. */
  readonly configurations: number;
  /**
   * Those predicted to be accurate when it arrived, and those of them that agree with the choices since; where scores of its answers were
   * good, also others that now count.
   */
  readonly accurate: Uint32Array;
  readonly left: Uint32Array;
  /** The index of each agent's model; -1 where it has none yet. */
  readonly chosen: readonly number[];
  /** By how much scores of its answers have changed the odds that it ends accurate, as a factor; left out: not at all. */
  readonly oddsFactor?: number | undefined;
}
