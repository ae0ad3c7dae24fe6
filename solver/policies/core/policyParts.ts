import type { GainDecision } from "@/solver/nextModel/nextModel";
import type { ReplicaMemory } from "./memoryForecast";
import type { Evidence, GraceThreshold, Need, PolicyEvent, PolicyReason, Reading, Start, StartingRequest, WaitingWork } from "./policy";

/** A route's verdict on an answer: good enough, or escalated to a later stage. */
export type Verdict =
  | { readonly kind: "accept"; readonly reason: PolicyReason; readonly gain?: GainDecision; readonly grace?: GraceThreshold }
  | {
      readonly kind: "escalate";
      readonly stage: number;
      readonly reason: PolicyReason;
      readonly gain?: GainDecision;
      readonly grace?: GraceThreshold;
    };

/** Which model serves a stage, and which answers are good enough. */
export interface Route {
  readonly kind: string;
  readonly needs: readonly Need[];
  /** Models in the order in which requests reach them; the index is the stage. */
  readonly models: readonly string[];
  /** Set where stages are not ranked: any may answer in place of one that cannot, whatever the operator permits of smaller models. */
  readonly unordered?: true;
  start(request: StartingRequest): Start;
  /** Whether the stage's answers are scored by a gate: that to a request with this evidence, or any where it is left out. */
  judges(stage: number, evidence?: Evidence): boolean;
  /** Set where verdicts read the evidence of the work. */
  readonly readsEvidence?: true;
  /** Called with answered work only; `judgedScore` is the score of the stage's gate, null where that gave none. */
  verdict(stage: number, judgedScore: number | null, evidence?: Evidence): Verdict;
  observe?(event: PolicyEvent): void;
  /** Where its thresholds depend on the time: accounts for the time up to a decision, before its verdicts. */
  advance?(nowSeconds: number): void;
  /** As the policy's. */
  grace?(nowSeconds: number): readonly GraceThreshold[];
}

/** In which order queued work leaves a model's queue. */
export interface Order {
  readonly kind: string;
  readonly needs: readonly Need[];
  /** Left out: first come, first served. */
  readonly preference?: Preference;
  observe?(event: PolicyEvent): void;
}

/**
 * The key by which work goes before older work, until the older has waited too long. It is read anew for each decision; it never falls
 * while the work waits with the same forecast.
 */
export interface Preference {
  /** Smallest first; equal keys leave in the driver's list order. */
  key(work: WaitingWork): number;
  /** Tie-break of equal keys, smallest first; left out: the order of the list. */
  thenBy?(work: WaitingWork): number;
  /** Releases of other work from the queue after which waiting work goes before all later work. */
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
  /** Capacity of each in tokens; null where unknown. */
  readonly kvTokens: readonly (number | null)[];
  readonly preemptions: readonly Reading[];
}

/** Which replica of the model gets the next request. */
export interface Place {
  readonly kind: string;
  readonly needs: readonly Need[];
  /**
   * Index into `slots` of a replica with inFlight < capacity, which then gets the work; -1 when there is none, or when the work is to be
   * held back. It must not be held back for ever: a replica that takes work and has none that this place sent takes any.
   */
  choose(slots: Slots, work: WaitingWork, nowSeconds: number): number;
  /** The same for all choices of one decision, in which the slots change by these choices only and capacities never grow. */
  choosing?(slots: Slots, nowSeconds: number): (work: WaitingWork) => number;
  /** The replica that is nearest to having room for held-back work, among those with a capacity that are not kept for other work; -1: none. */
  nearest?(slots: Slots, at: { readonly work: WaitingWork; readonly nowSeconds: number; readonly kept: ReadonlySet<number> }): number;
  /** Why missing telemetry currently changes its choice; null where it does not. */
  degraded?(slots: Slots): string | null;
  /** When work that it holds back may go without any event: a later moment. */
  askAgainSeconds?(nowSeconds: number): number;
  /** Where it packs memory, its plan: a copy, on which placements may be tried. */
  memoryPlan?(): MemoryPlan;
  observe?(event: PolicyEvent): void;
}

/** The plan of a place that packs memory. */
export interface MemoryPlan {
  readonly slotSeconds: number;
  /** The replicas of the slots' model, in their order. */
  replicas(slots: Slots, nowSeconds: number): readonly ReplicaMemory[];
  /** Chooses as the place would, and adds the work to the plan where it chose. */
  choose: Place["choose"];
  choosing: NonNullable<Place["choosing"]>;
  nearest: NonNullable<Place["nearest"]>;
  /** Expected maximum of tokens over all slots from now on at a replica, by its index into `slots`. */
  peakTokens(slots: Slots, index: number): number;
}
