/**
 * The policy seam. A policy is an object with `decide(view) -> actions` and `observe(event)`; time, random numbers and
 * telemetry are arguments. The very same objects run on virtual time in `solver/cluster` and on real time in the gateway.
 */

/** One request that waits for a decision: to be sent to a model, or, once judged, to be accepted or escalated. */
export interface WaitingWork {
  readonly id: string;
  /** One run of a workflow; for a single request its own id. */
  readonly programId: string;
  /** Index of the stage it waits for or was just answered by. */
  readonly stage: number;
  readonly programArrivalSeconds: number;
  /** When it joined the queue it is in. */
  readonly queuedSinceSeconds: number;
  readonly inputTokens: number;
  readonly state: { readonly kind: "queued" } | { readonly kind: "answered"; readonly judgedScore: number | null };
}

/** A telemetry value is fresh, stale, absent or unreachable; missing is never zero. */
export type Reading =
  | { readonly state: "fresh" | "stale"; readonly value: number; readonly ageSeconds: number }
  | { readonly state: "absent" | "unreachable" };

export interface ReplicaView {
  readonly id: string;
  readonly model: string;
  /** Requests this driver has sent and not seen finished: exact and immediate, unlike telemetry. */
  readonly inFlight: number;
  /** Requests it may hold at once before the central queue keeps them back. */
  readonly maxInFlight: number;
  /** A cordoned or unhealthy replica takes no new work. */
  readonly accepting: boolean;
  readonly kvUse: Reading;
}

export interface View {
  readonly nowSeconds: number;
  readonly waiting: readonly WaitingWork[];
  /** Its members may change between decisions; a driver whose set of replicas changes gives a new array. */
  readonly replicas: readonly ReplicaView[];
}

/** What a policy may ask its driver to do. Work that gets no action stays where it is (hold). */
export type Action =
  | { readonly kind: "dispatch"; readonly workId: string; readonly replicaId: string }
  | { readonly kind: "accept"; readonly workId: string; readonly reason: string }
  | { readonly kind: "escalate"; readonly workId: string; readonly stage: number; readonly reason: string };

/** What a driver tells a policy after the fact. */
export type PolicyEvent =
  | { readonly kind: "dispatched"; readonly workId: string; readonly replicaId: string; readonly nowSeconds: number }
  | {
      readonly kind: "finished";
      readonly workId: string;
      readonly replicaId: string;
      readonly nowSeconds: number;
      readonly failed: boolean;
    };

/** What a policy cannot work without; a driver that lacks it refuses the policy with the reason. */
export type Need = "judged-scores" | "kv-telemetry" | "predictions" | "identifiers";

/** What a router that read the prompt before any model answered scores a model, 0..100; undefined where it says nothing of it. */
export type RouterScores = (model: string) => number | undefined;

/** Where a request starts, and why. */
export interface Start {
  readonly stage: number;
  readonly reason: string;
}

export interface Policy {
  readonly kind: string;
  readonly needs: readonly Need[];
  /**
   * Whether a model's queued work leaves in the order it is listed and nothing but the room at its replicas holds it back: a driver that
   * lists work in the order it came may then leave out what there is no room for.
   */
  readonly firstComeFirstServed: boolean;
  /** The stage at which a request starts. */
  start(scores: RouterScores): Start;
  /** Model that serves a stage. */
  modelOfStage(stage: number): string;
  /** Whether the stage's answer must be judged before it can be accepted. */
  judges(stage: number): boolean;
  decide(view: View): readonly Action[];
  observe(event: PolicyEvent): void;
}
