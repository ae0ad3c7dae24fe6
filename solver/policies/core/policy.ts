import type { GainDecision, ScoredAnswer } from "@/solver/nextModel/nextModel";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { MemoryForecast } from "./memoryForecast";
import type { RoundsView } from "./roundsView";

/**
 * The policy interface. A policy is an object with `decide(view) -> actions` and `observe(event)`; time, random numbers and
 * telemetry are arguments. The same objects run on virtual time in `solver/cluster` and on real time in the gateway.
 */

/** One request that waits for a decision: to be sent to a model, or, once judged, to be accepted or escalated. */
export interface WaitingWork {
  readonly id: string;
  /** One run of a workflow; for a single request its own id. */
  readonly programId: string;
  /** Index of the stage that it waits for or that just answered it. */
  readonly stage: number;
  readonly programArrivalSeconds: number;
  /** When it joined the queue it is in. */
  readonly queuedSinceSeconds: number;
  readonly inputTokens: number;
  /** Predicted output tokens of this request; left out where nothing predicts them. */
  readonly predictedTokens?: number | undefined;
  /**
   * Predicted output tokens of this request and of everything after it in its program; parallel requests report their own.
   * Left out where nothing predicts them.
   */
  readonly predictedProgramTokens?: number | undefined;
  /** When its client needs the answer, on the clock of the driver; left out where the client does not say. */
  readonly dueSeconds?: number | undefined;
  /** Its place in a workflow, as given by its client; left out where the client gives none. */
  readonly call?: WorkflowCall | undefined;
  /**
   * Configurations of its workflow that are predicted to be accurate for its program, as a set of `configurationSet.ts` over those of
   * `configurationSpace`; left out where there is no prediction for this request. A prediction for a program applies to all its requests.
   */
  readonly accurate?: Uint32Array | undefined;
  /**
   * By how much each configuration's chance to be accurate exceeds the least that counts, of `configurationSet.ts`, where scores of
   * answers change which configurations count; left out: not known, so that scores change nothing.
   */
  readonly margins?: Int8Array | undefined;
  /**
   * Whether the search for `accurate` still runs: the work waits and is not sent before it ends. A driver then says what was found by a
   * `searched` event. Left out: no.
   */
  readonly searching?: boolean | undefined;
  /**
   * What is learnt of its agent from earlier programs; left out where nothing has been learnt yet, or the policy does not read it. A driver
   * replaces it while the work waits whenever what is learnt is published anew.
   */
  readonly forecast?: AgentForecast | undefined;
  /** Stages whose engines failed it as often as the driver retries; left out: none. */
  readonly failedStages?: readonly number[] | undefined;
  /** Stages that it must not visit, whatever their engines do: its data must not go there; left out: it may visit all. */
  readonly barredStages?: readonly number[] | undefined;
  /** Stages whose answers the driver keeps although the policy escalated the request; left out: none. */
  readonly answeredStages?: readonly number[] | undefined;
  /** Left out where the policy does not read it (`readsEvidence`). */
  readonly evidence?: Evidence | undefined;
  /** Hashes of its prompt's blocks, of `promptBlocks`; left out where they are not known, or the policy does not read `prefixes`. */
  readonly promptBlocks?: Uint32Array | undefined;
  readonly state: { readonly kind: "queued" } | { readonly kind: "answered"; readonly judgedScore: number | null };
}

/** What is known of a request besides the answer at hand. */
export interface Evidence {
  readonly routerScores: RouterScores;
  /** Its answers of earlier stages, with the scores of their gates. */
  readonly answers: readonly ScoredAnswer[];
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
  /** Requests that this driver has sent and that have not finished: exact and immediate, unlike telemetry. */
  readonly inFlight: number;
  /** Maximum number of requests that it holds at once; further requests wait in the central queue. */
  readonly maxInFlight: number;
  /** A cordoned or unhealthy replica takes no new work. */
  readonly accepting: boolean;
  /** Whether it is expected not to take work again soon; left out: no. */
  readonly down?: boolean;
  readonly kvUse: Reading;
  /** Capacity of its KV cache in tokens; left out or null: not known. */
  readonly kvTokens?: number | null;
  /** Number of requests that it has preempted from its batch for lack of memory since it started; left out: as absent. */
  readonly preemptions?: Reading;
}

/** Which models cannot answer at present, and what the operator permits in that case. */
export interface Outage {
  /** Whether no engine of the model takes work and none is expected to soon. */
  readonly isLost: (model: string) => boolean;
  /** Whether a smaller model may answer where no larger one can. */
  readonly lowerMayAnswer: boolean;
}

export interface View {
  readonly nowSeconds: number;
  readonly waiting: readonly WaitingWork[];
  /** Its members may change between decisions; a driver whose set of replicas changes passes a new array. */
  readonly replicas: readonly ReplicaView[];
  /** Left out: every model has engines. */
  readonly outage?: Outage | undefined;
}

/**
 * Maximum number of pieces of work that a policy which chooses models at dispatch compares with one another in a round. Work that no free
 * model may serve is not counted.
 */
export const MOST_WEIGHED = 256;

/** Number of calls of one model that a decision holds back before it tries no more there: each costs a look at all its replicas at worst. */
export const MOST_HELD = 64;

/** The actions of a policy for its driver. Work that gets no action stays where it is (hold). */
export type Action =
  | {
      readonly kind: "dispatch";
      readonly workId: string;
      readonly replicaId: string;
      /** Where the policy chooses models at dispatch: the stage, and so the model, that the work goes to instead of its own. */
      readonly stage?: number;
      /** The key of the policy's order, lower first, for engines that order their waiting requests; left out if the order is by arrival. */
      readonly priority?: number;
      /** Why missing telemetry kept the policy from its usual choice of replica; left out where nothing did. */
      readonly degraded?: string;
    }
  | {
      readonly kind: "accept";
      readonly workId: string;
      readonly reason: PolicyReason;
      readonly skipped?: readonly number[];
      /** The terms of the decision, where it was one of cascade routing. */
      readonly gain?: GainDecision;
      /** The threshold that the score was compared with, where overload had lowered it. */
      readonly grace?: GraceThreshold;
    }
  | {
      readonly kind: "escalate";
      readonly workId: string;
      readonly stage: number;
      readonly reason: PolicyReason;
      readonly skipped?: readonly number[];
      readonly gain?: GainDecision;
      readonly grace?: GraceThreshold;
    }
  /** Queued work moves to another stage, because its own cannot answer it: to one that has already answered it, or to another queue. */
  | {
      readonly kind: "skip";
      readonly workId: string;
      readonly stage: number;
      readonly reason: PolicyReason;
      readonly skipped: readonly number[];
    }
  /** Work that nothing can serve as required: its client gets the reason. */
  | { readonly kind: "refuse"; readonly workId: string; readonly cause: RefusalCause; readonly reason: string };

/** A threshold that is below the plan's while a later stage is overloaded. */
export interface GraceThreshold {
  /** The stage whose answers it is for. */
  readonly stage: number;
  /** Scores, 0 to 100. */
  readonly planned: number;
  readonly inForce: number;
  /** When it began to fall, on the clock of the driver. */
  readonly sinceSeconds: number;
}

/** Why a policy refuses work: no accurate configuration is left for its program, or no stage that may answer it can. */
export type RefusalCause = "no-configuration" | "no-stage";

/** The events that a driver reports to a policy. */
export type PolicyEvent =
  /** Work joined a model's queue, for the first time or again. */
  | { readonly kind: "queued"; readonly work: WaitingWork }
  /** The search for the accurate configurations of waiting work has ended: the work has what it found, if anything. */
  | { readonly kind: "searched"; readonly work: WaitingWork }
  /** Queued work was cancelled before any dispatch. */
  | { readonly kind: "left"; readonly workId: string; readonly nowSeconds: number }
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
       * Service time: in the engine's batch (simulator) or, where the driver does not know that, from its first token on; what it waits
       * for after it was preempted counts in the latter only. Left out where the driver knows neither.
       */
      readonly servedSeconds?: number;
      readonly failed: boolean;
    }
  /** No request of the program will follow. A driver that cannot know this never sends it: the state kept per program is bounded anyway. */
  | { readonly kind: "ended"; readonly programId: string };

/**
 * The inputs of a policy. Without judged scores, where a gate may ask the judge, it cannot work, and a driver that lacks them refuses it with the reason. Without fresh
 * `kv-telemetry`, predictions of `lengths`, of `confidence` in models or of accurate `configurations`, learnt `workflows`, `identifiers`
 * of programs, or hashes of prompts' `prefixes`, it continues as described at its parts.
 */
export type Need =
  | "judged-scores"
  | "kv-telemetry"
  | "lengths"
  | "confidence"
  | "configurations"
  | "workflows"
  | "identifiers"
  | "prefixes";

/** A router's score of a model, 0..100, from the prompt before any model answered; undefined where the router does not score it. */
export type RouterScores = (model: string) => number | undefined;

/** A request before it joins a queue. */
export interface StartingRequest {
  readonly programId: string;
  /** Its place in a workflow, as given by its client; left out where the client gives none. */
  readonly call?: WorkflowCall | undefined;
  readonly inputTokens: number;
  readonly routerScores: RouterScores;
  readonly replicas: readonly ReplicaView[];
  /** Whether the judge is known to give no scores at present. */
  readonly judgeResting: boolean;
  /** Stages that it must not visit, whatever their engines do; left out: it may visit all. */
  readonly barredStages?: readonly number[] | undefined;
  /** Left out: every model has engines. */
  readonly outage?: Outage;
}

/** Why a policy starts a request at a stage, accepts its answer or escalates it: a code that records and screens turn into sentences. */
export type PolicyReason =
  | "first-stage"
  | "last-stage"
  | "only-model"
  | "not-judged"
  | "score-at-or-above-threshold"
  | "score-below-threshold"
  /** Below the plan's threshold, and at or above the one to which overload had lowered it. */
  | "score-at-or-above-lowered-threshold"
  /** The judge that would be called gives no score. */
  | "judge-unavailable"
  /** A gate that is not the judge alone gives no score. */
  | "no-gate-score"
  /** A later stage than intended: those between cannot answer. */
  | "stage-skipped"
  /** An earlier stage than intended, or its kept answer: no later one can answer. */
  | "lower-stage"
  | `no-router-score-of-${string}`
  | "router-score-high-enough"
  | "no-router-score-high-enough"
  /** Cascade routing: no model has a larger trade-off of expected quality and cost. */
  | "largest-expected-gain"
  /** Cascade routing: no other model is expected to gain enough for its cost. */
  | "no-gain-worth-its-cost"
  /** The same whatever the answer's score, so that it got none. */
  | "no-gain-at-any-score"
  | "routed-before-answering"
  | "program-keeps-its-model"
  | "least-loaded"
  | "surer-within-slack"
  | "least-waiting-and-running"
  | "model-chosen-at-dispatch"
  /** An agent's answer with a score, by which the models of the agents after it are chosen. */
  | "scored-for-later-agents"
  | "model-not-in-cascade";

/** The stage where a request starts, and why. */
export interface Start {
  readonly stage: number;
  readonly reason: PolicyReason;
  /** Stages that were passed over because they cannot answer; left out: none. */
  readonly skipped?: readonly number[];
  /** Why it would have started at the stage that cannot answer; left out: no stage was passed over. */
  readonly wantedReason?: PolicyReason;
  /** The terms of the decision, where it was one of cascade routing. */
  readonly gain?: GainDecision;
}

export interface Policy {
  readonly kind: string;
  readonly needs: readonly Need[];
  /**
   * Sort key of a model's queued work, lowest first; null: list order. At each release from a queue the policy takes the
   * work with the lowest key, of equal keys the first listed, or the oldest. A driver that lists work in order of arrival may therefore
   * leave out all but as many of the lowest and of the oldest as there is room for at the model's replicas, but no work whose stage cannot
   * answer it. A policy that may hold work back tries `MOST_HELD` more, and first what is `due`. Keys of waiting work never fall, unless
   * its forecast is replaced.
   */
  readonly preference: ((work: WaitingWork) => number) | null;
  /** Tie-break of equal keys, lowest first, before the order of the list; left out: none. Never falls either. */
  readonly thenBy?: (work: WaitingWork) => number;
  /**
   * Set where models are chosen at dispatch: work waits in one queue, in the policy's own order, for any of the models that the policy may
   * send it to, and until then its stage does not determine a model. A driver lists all such work, in the order in which its programs
   * began: the first in the list may wait for a model that the last does not need. `preference` is null.
   */
  readonly choosesModel?: true;
  /** Set where verdicts read the evidence of the work: a driver then gives it. */
  readonly readsEvidence?: true;
  /**
   * The first of the stages at which calls of workflows are answered, where scores of their answers change later choices: a driver gives work
   * its `margins`, and calls that `judges` names their scores. Left out: none are scored.
   */
  readonly scoresCallsFrom?: number;
  /** Where it decides in rounds: the latest rounds, and the paths of the latest programs. A query: nothing changes. */
  readonly rounds?: () => RoundsView;
  /**
   * The stage at which a request would start now. A query: the policy sees the request when it is queued. Where no stage that may
   * answer it can, the one at which it would start otherwise.
   */
  start(request: StartingRequest): Start;
  /** Model that serves a stage. */
  modelOfStage(stage: number): string;
  /**
   * Whether the stage's answer must be scored, by the judge or another gate, before it can be accepted: that to a request with this
   * evidence, or to any where it is left out.
   */
  judges(stage: number, evidence?: Evidence): boolean;
  /** Whether the route accepts an answer of the stage with that score of its gate. A query: nothing changes. */
  accepts(stage: number, score: number, evidence?: Evidence): boolean;
  /** Why an answer of a stage that is not judged is accepted. A query: nothing changes. */
  acceptReason(stage: number, evidence?: Evidence): PolicyReason;
  decide(view: View): readonly Action[];
  observe(event: PolicyEvent): void;
  /**
   * Its thresholds that are lowered at a moment that is not earlier than the latest event; empty: none is. A query: nothing changes. Left
   * out: overload lowers none.
   */
  readonly grace?: (nowSeconds: number) => readonly GraceThreshold[];
  /** When work that the latest decision held back, although there was room, may go without any event; null where it held nothing back. */
  readonly askAgainSeconds?: () => number | null;
  /** Ids of the held-back work that goes before all other: a driver that leaves work out must list it. A query; left out: none. */
  readonly due?: () => Iterable<string>;
  /** Its forecast of the replicas' memory and its plan for waiting work. A query: nothing changes. Only if its place packs memory. */
  readonly memory?: (view: View) => MemoryForecast;
}
