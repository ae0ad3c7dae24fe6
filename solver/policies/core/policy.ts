import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { MemoryForecast } from "./memoryForecast";
import type { RoundsView } from "./roundsView";

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
  /** Output tokens that this request is expected to write; left out where nothing predicts them. */
  readonly predictedTokens?: number | undefined;
  /**
   * Output tokens that this request and all that comes after it in its program are expected to write; requests beside it say theirs
   * themselves. Left out where nothing predicts them.
   */
  readonly predictedProgramTokens?: number | undefined;
  /** Its place in a workflow, as its client names it; left out where it names none. */
  readonly call?: WorkflowCall | undefined;
  /**
   * Configurations of its workflow that are held to be accurate for its program, as a set of `configurationSet.ts` over those of
   * `configurationSpace`; left out where nobody has said it of this request. What is said of a program once holds for all its requests.
   */
  readonly accurate?: Uint32Array | undefined;
  /** What earlier programs taught of its agent; left out where nothing has been learnt yet, or the policy does not ask. */
  readonly forecast?: AgentForecast | undefined;
  /** Stages whose engines failed it as often as the driver tries; left out: none. */
  readonly failedStages?: readonly number[] | undefined;
  /** Stages whose answers the driver keeps although the policy sent the request on; left out: none. */
  readonly answeredStages?: readonly number[] | undefined;
  readonly state: { readonly kind: "queued" } | { readonly kind: "answered"; readonly judgedScore: number | null };
}

/** A request's place in a workflow: names of the workflow and of the agent in it. */
export interface WorkflowCall {
  readonly workflow: string;
  readonly agent: string;
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
  /** Whether it is not expected to take work again soon; left out: no. */
  readonly down?: boolean;
  readonly kvUse: Reading;
  /** Tokens that its KV cache holds; left out or null: not known. */
  readonly kvTokens?: number | null;
  /** Requests that it has taken out of its batch for want of memory since it started; left out: as absent. */
  readonly preemptions?: Reading;
}

/** Which models can answer nothing at the moment, and what the operator lets happen then. */
export interface Outage {
  /** Whether no engine of the model takes work and none is expected to soon. */
  readonly isLost: (model: string) => boolean;
  /** Whether a smaller model may answer where no larger one can. */
  readonly lowerMayAnswer: boolean;
}

export interface View {
  readonly nowSeconds: number;
  readonly waiting: readonly WaitingWork[];
  /** Its members may change between decisions; a driver whose set of replicas changes gives a new array. */
  readonly replicas: readonly ReplicaView[];
  /** Left out: every model has engines. */
  readonly outage?: Outage;
}

/** Work that a policy which chooses models at dispatch weighs against one another at most. */
export const MOST_WEIGHED = 256;

/** What a policy may ask its driver to do. Work that gets no action stays where it is (hold). */
export type Action =
  | {
      readonly kind: "dispatch";
      readonly workId: string;
      readonly replicaId: string;
      /** Where the policy chooses models at dispatch: the stage, and so the model, that the work goes to in place of the one it waits for. */
      readonly stage?: number;
      /** What the policy's order goes by, lower first, for engines that order what waits inside them; left out where that is arrival. */
      readonly priority?: number;
      /** Why the replica was not chosen as the policy would have, for want of telemetry; left out where it was. */
      readonly degraded?: string;
    }
  | { readonly kind: "accept"; readonly workId: string; readonly reason: PolicyReason; readonly skipped?: readonly number[] }
  | {
      readonly kind: "escalate";
      readonly workId: string;
      readonly stage: number;
      readonly reason: PolicyReason;
      readonly skipped?: readonly number[];
    }
  /** Queued work goes on at another stage, because its own cannot answer it: one that has answered it already, or one whose queue it joins. */
  | {
      readonly kind: "skip";
      readonly workId: string;
      readonly stage: number;
      readonly reason: PolicyReason;
      readonly skipped: readonly number[];
    }
  /** Work that nothing can serve as it must be: its client is told why. */
  | { readonly kind: "refuse"; readonly workId: string; readonly cause: RefusalCause; readonly reason: string };

/** Why a policy refuses work: nothing accurate is left for its program, or no stage that may answer it can. */
export type RefusalCause = "no-configuration" | "no-stage";

/** What a driver tells a policy after the fact. */
export type PolicyEvent =
  /** Work joined a model's queue, for the first time or again. */
  | { readonly kind: "queued"; readonly work: WaitingWork }
  /** Queued work was given up before any dispatch. */
  | { readonly kind: "left"; readonly workId: string }
  | {
      readonly kind: "dispatched";
      readonly workId: string;
      readonly programId: string;
      readonly replicaId: string;
      readonly nowSeconds: number;
    }
  | {
      readonly kind: "finished";
      readonly workId: string;
      readonly replicaId: string;
      readonly nowSeconds: number;
      /**
       * How long it was served: from when it first entered the engine's batch or, for who knows no more, from its first token on; what was
       * taken out of the batch and put back is in it. Left out where the driver knows neither.
       */
      readonly servedSeconds?: number;
      readonly failed: boolean;
    }
  /** No request of the program will come any more. A driver that cannot tell never says so: what is kept of programs is bounded anyway. */
  | { readonly kind: "ended"; readonly programId: string };

/**
 * What a policy reads. Without judged scores it cannot work, and a driver that lacks them refuses it with the reason; without fresh
 * `kv-telemetry`, without predictions of `lengths`, of `confidence` in models or of accurate `configurations`, where nobody learns `workflows`, and where `identifiers` of
 * programs do not come, it goes on as its parts say.
 */
export type Need = "judged-scores" | "kv-telemetry" | "lengths" | "confidence" | "configurations" | "workflows" | "identifiers";

/** What a router that read the prompt before any model answered scores a model, 0..100; undefined where it says nothing of it. */
export type RouterScores = (model: string) => number | undefined;

/** A request before it joins a queue. */
export interface StartingRequest {
  readonly programId: string;
  readonly inputTokens: number;
  readonly routerScores: RouterScores;
  readonly replicas: readonly ReplicaView[];
  /** Whether the judge is known to give no score at the moment. */
  readonly judgeResting: boolean;
  /** Left out: every model has engines. */
  readonly outage?: Outage;
}

/** Why a policy starts a request at a stage, accepts its answer or sends it on: a code, of which records and screens make sentences. */
export type PolicyReason =
  | "first-stage"
  | "last-stage"
  | "only-model"
  | "not-judged"
  | "score-at-or-above-threshold"
  | "score-below-threshold"
  /** The judge that would be asked gives no score. */
  | "judge-unavailable"
  /** A later stage than wanted: those between cannot answer. */
  | "stage-skipped"
  /** An earlier stage than wanted, or its kept answer: no later one can answer. */
  | "lower-stage"
  | `no-router-score-of-${string}`
  | "router-score-high-enough"
  | "no-router-score-high-enough"
  | "routed-before-answering"
  | "program-keeps-its-model"
  | "least-loaded"
  | "surer-within-slack"
  | "least-waiting-and-running"
  | "model-chosen-at-dispatch"
  | "model-not-in-cascade";

/** Where a request starts, and why. */
export interface Start {
  readonly stage: number;
  readonly reason: PolicyReason;
  /** Stages that were passed over because they cannot answer; left out: none. */
  readonly skipped?: readonly number[];
  /** Why it would have started at the stage that cannot answer; left out: no stage was passed over. */
  readonly wantedReason?: PolicyReason;
}

export interface Policy {
  readonly kind: string;
  readonly needs: readonly Need[];
  /**
   * What goes first of a model's queued work, lowest first; null: what is listed first. At each release from a queue the policy takes the
   * work of the lowest key, of equals the first listed, or the oldest. Where it holds that back it releases nothing after it either. A
   * driver that lists work in the order it came may therefore leave out all but the lowest and the oldest that there is room for at the
   * model's replicas, but nothing whose stage cannot answer it. Keys of work that waits never fall.
   */
  readonly preference: ((work: WaitingWork) => number) | null;
  /** What of equal keys goes first, lowest first, before the order of the list decides; left out: nothing. Never falls either. */
  readonly thenBy?: (work: WaitingWork) => number;
  /**
   * Set where models are chosen at dispatch: work waits for whichever of its models the policy sends it to, in one queue whose order is the
   * policy's own, and its stage until then stands for no model. A driver lists all such work, in the order in which its programs began: what
   * stands first may wait for a model that what stands last can do without. `preference` is null.
   */
  readonly choosesModel?: true;
  /** Where it decides in rounds: the latest, and the paths of the latest programs. A question: nothing changes. */
  readonly rounds?: () => RoundsView;
  /**
   * The stage at which a request would start now. A question: the policy learns of the request when it is queued. Where no stage that may
   * answer it can, the one at which it would start otherwise.
   */
  start(request: StartingRequest): Start;
  /** Model that serves a stage. */
  modelOfStage(stage: number): string;
  /** Whether the stage's answer must be judged before it can be accepted. */
  judges(stage: number): boolean;
  /** Why an answer of a stage that is not judged is accepted. A question: nothing changes. */
  acceptReason(stage: number): PolicyReason;
  decide(view: View): readonly Action[];
  observe(event: PolicyEvent): void;
  /** When what the latest decision held back, although there was room, may go although nothing happens; null where it held nothing back. */
  readonly askAgainSeconds?: () => number | null;
  /** What it expects of the replicas' memory and would do with what waits. A question: nothing changes. Left out where its place packs none. */
  readonly memory?: (view: View) => MemoryForecast;
}
