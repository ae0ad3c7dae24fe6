import type { Action, Outage, ReplicaView, Start, StartingRequest, WaitingWork } from "@/solver/policies/core/policy";

/** Where a request goes, before which others inside the engine, and, where the policy chooses models at dispatch, for which stage. */
export type Sending = Pick<Extract<Action, { kind: "dispatch" }>, "replicaId" | "priority" | "stage">;

/** What is known of a request beside itself when it joins a queue. */
export type PredictedField = "predictedTokens" | "predictedProgramTokens" | "forecast" | "call" | "accurate";

/**
 * What a policy is driven in, on virtual time: requests that come, engines that answer them and a judge. Requests are known by their
 * index. At one instant the driver takes the answers, then the judgements, then the requests that join a queue, then decides.
 */
export interface ClusterWorld {
  /** The program of each request. */
  readonly programIds: readonly string[];
  readonly arrivalSeconds: Float64Array;
  readonly inputTokens: Int32Array;
  readonly replicas: readonly ReplicaView[];
  /** Left out: every model has engines. */
  readonly outage?: Outage | undefined;
  /** When something happens next; Infinity where nothing does any more. */
  nextSeconds(): number;
  /** Lets time pass up to `now`, at which nothing need happen: a policy may ask to be asked again. */
  advanceTo(now: number): void;
  /** The next request whose answer is seen by now; null when there is none. */
  takeAnswered(now: number): number | null;
  /** The next request that is judged by now; null when there is none. */
  takeJudged(now: number): number | null;
  /** The next request that has come by now, or goes on to another stage; null when there is none. */
  takeJoining(now: number): number | null;
  /** What the policy is told of a request that has come. */
  starting(request: number): StartingRequest;
  /** What is expected of a request that has joined a stage's queue. */
  predictions(request: number, stage: number): Pick<WaitingWork, PredictedField> | undefined;
  /** Shows the policy how full the caches are, and how often they were too full. */
  readMemory(now: number): void;
  /** The request has joined a stage's queue. */
  joined(request: number, to: Start, now: number): void;
  /**
   * Sends a request of a stage to a replica, where it counts in flight until it is released.
   *
   * @returns false when it is too long for the replica's cache: an engine answers that with an error.
   * @throws when the replica is not there or full: a policy's bug.
   */
  dispatch(request: number, to: Sending, now: number): boolean;
  /** How long the engine that has answered the request has served it; undefined where that is not known. */
  servedSeconds(request: number, now: number): number | undefined;
  /** Frees the request's place; returns the replica's id. */
  release(request: number, now: number): string;
  /** Has the judge look at the answer of the request's stage. */
  judge(request: number, now: number): void;
  /** What the judge says of it; null where it says nothing. */
  judgedScore(request: number): number | null;
  accept(request: number, reason: string, now: number): void;
  /** The request waited, and is not served: its client is told why. */
  refuse(request: number, now: number): void;
  /** Whether no other request of its program will come, now that this one has ended. */
  endsProgram(request: number): boolean;
  /** The request is to go on to another stage: `takeJoining` gives it when it is there. */
  sendOn(request: number, to: Start, now: number): void;
}
