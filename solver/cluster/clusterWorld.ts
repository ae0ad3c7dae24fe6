import type { Action, Outage, ReplicaView, Start, StartingRequest, WaitingWork } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";

/** A request's target, its priority inside the engine, and, where the policy chooses models at dispatch, its stage. */
export type Sending = Pick<Extract<Action, { kind: "dispatch" }>, "replicaId" | "priority" | "stage">;

/** The data known of a request in addition to itself when it joins a queue. */
export type PredictedField =
  | "predictedTokens"
  | "predictedProgramTokens"
  | "dueSeconds"
  | "forecast"
  | "call"
  | "accurate"
  | "margins"
  | "promptBlocks"
  | "searching";

/** A waiting request whose search has ended, and what it found; undefined: nothing. */
export interface Searched extends FoundSets {
  readonly request: number;
}

/** What a search found, as `WaitingWork` has it; undefined: nothing. */
export interface FoundSets {
  readonly accurate: Uint32Array | undefined;
  readonly margins?: Int8Array | undefined;
}

/** Forecasts of requests that change while they wait. */
export interface ChangingForecasts {
  /** Increases whenever forecasts of waiting requests may have changed. */
  revision(now: number): number;
  /** The forecast in force; undefined where there is none. */
  forecast(request: number): AgentForecast | undefined;
}

/**
 * The environment of a policy on virtual time: arriving requests, engines that answer them and a judge. Requests are identified by their
 * index. At one instant the driver processes the answers, the judgements, the searches that ended and the requests that join a queue, in
 * this order, then decides.
 */
export interface ClusterWorld {
  /** The program of each request. */
  readonly programIds: readonly string[];
  readonly arrivalSeconds: Float64Array;
  readonly inputTokens: Int32Array;
  readonly replicas: readonly ReplicaView[];
  /** Left out: every model has engines. */
  readonly outage?: Outage | undefined;
  /** Left out or null: a request keeps the forecast with which it joined. */
  readonly forecasts?: ChangingForecasts | null | undefined;
  /** Time of the next event; Infinity where there are none left. */
  nextSeconds(): number;
  /** Advances time to `now`; there need be no event at it: a policy may request another call. */
  advanceTo(now: number): void;
  /** The next request whose answer is visible by now; null when there is none. */
  takeAnswered(now: number): number | null;
  /** The next request that is judged by now; null when there is none. */
  takeJudged(now: number): number | null;
  /** The next waiting request whose search for accurate configurations has ended by now; null or left out: there is none. */
  takeSearched?(now: number): Searched | null;
  /** The next request that has arrived by now, or moves to another stage; null when there is none. */
  takeJoining(now: number): number | null;
  /** The policy's input for a request that has arrived. */
  starting(request: number): StartingRequest;
  /** The forecast of a request that has joined a stage's queue. */
  predictions(request: number, stage: number): Pick<WaitingWork, PredictedField> | undefined;
  /** Gives the policy readings of the caches' use and preemptions. */
  readMemory(now: number): void;
  /** The request has joined a stage's queue. */
  joined(request: number, to: Start, now: number): void;
  /**
   * Sends a request of a stage to a replica; it counts as in flight there until it is released.
   *
   * @returns false when it exceeds the replica's cache: an engine answers that with an error.
   * @throws when the replica does not exist or is full: an error in the policy.
   */
  dispatch(request: number, to: Sending, now: number): boolean;
  /** The engine of the request's stage is called, and its answer will be scored: asks for what its gate reads besides; left out: nothing. */
  readonly beginGate?: ((request: number, now: number) => void) | undefined;
  /** Service time of the request at the engine that has answered it; undefined where that is not known. */
  servedSeconds(request: number, now: number): number | undefined;
  /** Frees the request's place; returns the replica's id. */
  release(request: number, now: number): string;
  /** Sends the answer of the request's stage to the judge. */
  judge(request: number, now: number): void;
  /** The judge's score; null where it gives none. */
  judgedScore(request: number): number | null;
  /** Whether an engine got room since the last call other than by a request's own answer; left out: never. */
  hasFreed?(): boolean;
  accept(request: number, reason: string, now: number): void;
  /** The request waited, and is not served: its client gets the reason. */
  refuse(request: number, now: number): void;
  /** Whether no other request of its program will arrive, now that this one has ended. */
  endsProgram(request: number): boolean;
  /** The request is to move to another stage: `takeJoining` returns it when it is there. */
  sendOn(request: number, to: Start, now: number): void;
}
