import type { JudgedInputs } from "@/solver/workload/driftCause";
import type { PromiseVerdict } from "@/solver/workload/driftVerdict";
import type { TrafficReport } from "./proposals";

/** What a promise is of; figures of a stage have its `model`. */
export type PromiseQuantity =
  | "end-to-end"
  | "quality"
  | "accepted-score"
  | "stage-share"
  | "stage-latency"
  | "utilisation"
  | "failed-share"
  | "cost-per-hour"
  | "cost-per-request";

/** One figure of the plan in force with what is measured of it. */
export interface PlanPromise {
  readonly quantity: PromiseQuantity;
  /** null: of all stages together. */
  readonly model: string | null;
  /** For people: "p95 end to end", "share reaching llama-3.1-70b". */
  readonly name: string;
  readonly kind: "seconds" | "score" | "share" | "usd";
  readonly promised: number;
  /** Within it the promise is kept; null: only what is promised itself counts. */
  readonly band: { readonly low: number; readonly high: number } | null;
  /** null: nothing was measured. */
  readonly measured: number | null;
  /** Ends between which sampling leaves what is measured; null where it is counted, or an end is not known. */
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly verdict: PromiseVerdict;
  /** What the verdict rests on, or why there is none, in words. */
  readonly reason: string;
}

/** Something that the promises rest on, planned and now. */
export interface PlanInput {
  /** "rate", "output tokens of llama-3.1-8b", "engines of llama-3.1-8b". */
  readonly name: string;
  /** Rates are per engine second; times are engine seconds. */
  readonly kind: "rate" | "tokens" | "score" | "judge-time" | "token-time" | "engines";
  readonly planned: number;
  /** Means over the window of the promises; null: not seen. */
  readonly now: number | null;
  /** Distance of the whole distributions over the distance that counts as drift; null: not tested, or too little seen. */
  readonly level: number | null;
  /** `moved`: its mean has in this window, and the test of drift has not judged it so (yet). */
  readonly state: "drifted" | "moved" | "as planned" | "too little seen";
}

/** Why a promise is broken, as far as the planner can tell. */
export interface BrokenPromise {
  readonly promise: string;
  /** What was predicted with inputs as they are now in place of the planned ones; one at a time, and last all of them. */
  readonly replaced: readonly JudgedInputs[];
  /** For an operator, in sentences. */
  readonly says: string;
  /** Whether the engines are slower than the profile that the plan was made with says. */
  readonly slowEngines: boolean;
}

/** What the plan in force promised, what is measured, and what moved. */
export interface PromiseReport {
  readonly planId: string;
  readonly atMs: number;
  /** The engines are emulated, and follow the planner's own model to the letter: keeping promises then says nothing of real engines. */
  readonly emulated: boolean;
  readonly emulatedAsPlanned: boolean;
  /** Answered requests that the plan decided, and the engine seconds in which they ended. */
  readonly requests: number;
  /** Requests that the plan decided and that were rejected or not answered in that time, clients that left aside. */
  readonly failed: number;
  readonly windowSeconds: number;
  /** Why nothing compares at all; null where it does. */
  readonly notComparable: string | null;
  readonly promises: readonly PlanPromise[];
  readonly inputs: readonly PlanInput[];
  readonly broken: readonly BrokenPromise[];
  /** Whether the planner is simulating the plan under what is measured. */
  readonly simulating: boolean;
  /** The test of drift: windows it judges, the last of them, and why drift led to no proposal. */
  readonly drift: Pick<TrafficReport, "windowSeconds" | "last" | "driftedSince" | "says">;
  /** What to know beside, in sentences. */
  readonly notes: readonly string[];
}

/** What to plan for so that it is the traffic of now. */
export interface TrafficToPlan {
  readonly workloadId: string;
  readonly requestsPerSecond: number;
  /** What it rests on, in sentences. */
  readonly basis: readonly string[];
}
