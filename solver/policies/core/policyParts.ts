import type { ReplicaMemory } from "./memoryForecast";
import type { Need, PolicyEvent, PolicyReason, Reading, Start, StartingRequest, WaitingWork } from "./policy";

/** What a route says of an answer: good enough, or on to a later stage. */
export type Verdict =
  | { readonly kind: "accept"; readonly reason: PolicyReason }
  | { readonly kind: "escalate"; readonly stage: number; readonly reason: PolicyReason };

/** Which model serves a stage, and which answers are good enough. */
export interface Route {
  readonly kind: string;
  readonly needs: readonly Need[];
  /** Models in the order requests meet them; the index is the stage. */
  readonly models: readonly string[];
  /** Set where no stage is above another: any may answer in the place of one that cannot, whatever the operator lets smaller models do. */
  readonly unordered?: true;
  start(request: StartingRequest): Start;
  judges(stage: number): boolean;
  /** Called with answered work only; `judgedScore` null means that the judge gave none. */
  verdict(stage: number, judgedScore: number | null): Verdict;
  observe?(event: PolicyEvent): void;
}

/** In which order queued work leaves a model's queue. */
export interface Order {
  readonly kind: string;
  readonly needs: readonly Need[];
  /** Left out: first come, first served. */
  readonly preference?: Preference;
  observe?(event: PolicyEvent): void;
}

/** What goes before older work, until that has waited too long. */
export interface Preference {
  /** Smallest first; equal keys leave in the order the driver lists them. Never falls while the work waits. */
  key(work: WaitingWork): number;
  /** Of equal keys the smallest of this first. Never falls while the work waits; left out: the order of the list. */
  thenBy?(work: WaitingWork): number;
  /** Releases of other work from the queue after which waiting work goes before all that came later. */
  readonly agingThreshold: number;
}

/**
 * The replicas of one model during one decision, as parallel arrays: `inFlight` already counts what the decision has
 * dispatched so far, and a replica that takes no work has `capacity` 0.
 */
export interface Slots {
  readonly model: string;
  readonly replicaIds: readonly string[];
  readonly inFlight: Int32Array;
  readonly capacity: Int32Array;
  readonly kvUse: readonly Reading[];
  /** Tokens that each holds; null where nobody says. */
  readonly kvTokens: readonly (number | null)[];
  readonly preemptions: readonly Reading[];
}

/** Which replica of the model gets the next request. */
export interface Place {
  readonly kind: string;
  readonly needs: readonly Need[];
  /**
   * Index into `slots` of a replica with inFlight < capacity, which then gets the work; -1 when there is none, or when the work is to be held
   * back. It must not be held back for ever: a replica that takes work and has none of what this place sent takes any.
   */
  choose(slots: Slots, work: WaitingWork, nowSeconds: number): number;
  /** Why, for want of telemetry, it chooses otherwise than it should at the moment; null where it does not. */
  degraded?(slots: Slots): string | null;
  /** When work that it holds back may go although nothing happens: a later moment. */
  askAgainSeconds?(nowSeconds: number): number;
  /** Where it packs memory, what it has planned: a copy, on which placements may be tried. */
  memoryPlan?(): MemoryPlan;
  observe?(event: PolicyEvent): void;
}

/** What a place that packs memory has planned. */
export interface MemoryPlan {
  readonly slotSeconds: number;
  /** The replicas of the slots' model, in their order. */
  replicas(slots: Slots, nowSeconds: number): readonly ReplicaMemory[];
  /** Chooses as the place would, and plans the work where it chose. */
  choose: Place["choose"];
  /** Most tokens over all slots from now on that it expects at a replica, by its index into `slots`. */
  peakTokens(slots: Slots, index: number): number;
}
