import type { JudgedInputs } from "@/solver/workload/driftCause";
import type { PromiseVerdict } from "@/solver/workload/driftVerdict";
import type { TrafficReport } from "./proposals";

/** The quantity of a promise; figures of a stage have its `model`. `class-latency`: of single requests or the programs of one workflow. */
export type PromiseQuantity =
  | "end-to-end"
  | "class-latency"
  | "quality"
  | "accepted-score"
  | "stage-share"
  | "stage-latency"
  | "utilisation"
  | "failed-share"
  | "cost-per-hour"
  | "cost-per-request";

/** One figure of the plan in force with its measurement. */
export interface PlanPromise {
  readonly quantity: PromiseQuantity;
  /** null: all stages together. */
  readonly model: string | null;
  /** For people: "p95 end to end", "share reaching llama-3.1-70b". */
  readonly name: string;
  readonly kind: "seconds" | "score" | "share" | "usd";
  readonly promised: number;
  /** The promise is kept within the band; null: only the promised value itself counts. */
  readonly band: { readonly low: number; readonly high: number } | null;
  /** null: nothing was measured. */
  readonly measured: number | null;
  /** Confidence interval of the measurement from sampling; null if it is counted, or an end is not known. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly verdict: PromiseVerdict;
  /** The basis of the verdict, or why there is none, in words. */
  readonly reason: string;
}

/** An input that the promises depend on, planned and now. */
export interface PlanInput {
  /** "rate", "output tokens of llama-3.1-8b", "engines of llama-3.1-8b". */
  readonly name: string;
  /** Rates are per engine second; times are engine seconds. */
  readonly kind: "rate" | "tokens" | "score" | "judge-time" | "token-time" | "engines";
  readonly planned: number;
  /** Means over the window of the promises; null: not seen. */
  readonly now: number | null;
  /** Distance of the whole distributions, relative to the distance that counts as drift; null: not tested, or too few observations. */
  readonly level: number | null;
  /** `moved`: its mean has moved in this window, and the test of drift has not confirmed it (yet). */
  readonly state: "drifted" | "moved" | "as planned" | "too little seen";
}

/** Why a promise is broken, as far as the planner can determine. */
export interface BrokenPromise {
  readonly promise: string;
  /** Predictions with the present inputs in place of the planned ones; one at a time, and last all of them. */
  readonly replaced: readonly JudgedInputs[];
  /** Sentences for an operator. */
  readonly says: string;
  /** Whether the engines are slower than the plan's profile predicts. */
  readonly slowEngines: boolean;
}

/** The promises of the plan in force, their measurements, and what moved. */
export interface PromiseReport {
  readonly planId: string;
  readonly atMs: number;
  /** The engines are emulated, and follow the planner's own model exactly: keeping promises then says nothing about real engines. */
  readonly emulated: boolean;
  readonly emulatedAsPlanned: boolean;
  /** Answered requests that the plan decided, and the engine seconds of their window. */
  readonly requests: number;
  /** Requests that the plan decided and that were rejected or not answered in that time, without clients that disconnected. */
  readonly failed: number;
  readonly windowSeconds: number;
  /** Why no comparison is possible; null if it is. */
  readonly notComparable: string | null;
  readonly promises: readonly PlanPromise[];
  readonly inputs: readonly PlanInput[];
  readonly broken: readonly BrokenPromise[];
  /** Whether the planner is simulating the plan under the measured inputs. */
  readonly simulating: boolean;
  /** The test of drift: its windows, the last of them, and why drift led to no proposal. */
  readonly drift: Pick<TrafficReport, "windowSeconds" | "last" | "driftedSince" | "says">;
  /** Further notes, in sentences. */
  readonly notes: readonly string[];
}

/** The planning input that describes the present traffic. */
export interface TrafficToPlan {
  readonly workloadId: string;
  readonly requestsPerSecond: number;
  /** Its basis, in sentences. */
  readonly basis: readonly string[];
}
