import type { PlanPromise } from "./promise";

/** The journal events of a step. `intended` is written before the act, `done` after it, `verified` when its effect was checked. */
export type JournalEvent = "intended" | "done" | "verified" | "failed" | "cut";

export interface JournalLine {
  readonly at: string;
  /** null: the application as a whole. */
  readonly stepId: string | null;
  readonly event: JournalEvent | "said";
  readonly detail: string;
}

/** Why a roll-out stopped by itself. */
export interface Halt {
  readonly at: string;
  /** `health`: engines or the gateway fail; `objective`: latency or errors of the served traffic; `step`: one of its own steps failed. */
  readonly because: "health" | "objective" | "step";
  readonly sentence: string;
}

/** One figure of a plan compared with its measurement after the plan came into force. */
export interface VerificationCheck extends Omit<PlanPromise, "verdict" | "quantity" | "model"> {
  readonly verdict: "pass" | "fail" | "undecided";
}

/** The window after an application in which its plan must keep its promises. */
export interface Verification {
  readonly fromMs: number;
  /** null: it is still open. */
  readonly toMs: number | null;
  /** `undecided`: it ended with too little traffic, or with traffic the plan was not made for. */
  readonly state: "watching" | "passed" | "failed" | "undecided";
  readonly requests: number;
  /** Requests and engine seconds after which it is judged. */
  readonly needs: { readonly requests: number; readonly seconds: number };
  readonly checks: readonly VerificationCheck[];
  /** The verdict in a sentence. */
  readonly says: string;
  /**
   * The previous plan must be applied again, since when, and that has not begun yet; `says` states what it waits for in addition to the
   * verdict.
   */
  readonly rollBackDue?: { readonly fromMs: number; readonly verdict: string };
}

/** The routing between two of its changes during a roll-out. */
export interface DipPhase {
  /** Ids of the first and the last step of the phase, inclusive. */
  readonly fromStep: string;
  readonly toStep: string;
  /** Its expected duration, in engine seconds. */
  readonly seconds: number;
  readonly planId: string | null;
  /** Replicas that take requests, by model of the policy. */
  readonly replicas: readonly { readonly model: string; readonly serving: number; readonly of: number }[];
  /** Highest requests per engine second that this routing sustains; null: nothing is served. */
  readonly capacityPerSecond: number | null;
  /** Simulated; null: overloaded. */
  readonly p95Seconds: number | null;
}

/** The simulated cost of a roll-out while it runs. */
export interface RollOutDip {
  readonly requestsPerSecond: number;
  /** The source of the rate, and the basis of the figures, a sentence each. */
  readonly basis: readonly string[];
  readonly before: { readonly p95Seconds: number | null; readonly capacityPerSecond: number | null } | null;
  readonly phases: readonly DipPhase[];
  readonly after: { readonly p95Seconds: number | null; readonly capacityPerSecond: number | null };
  /** For an operator: the worst moment, in a sentence. */
  readonly says: string;
}

/** Text generated for a plan on a cluster, with the present text there. Equal sides: nothing changes. */
export interface GeneratedFile {
  readonly name: string;
  readonly language: "yaml" | "json" | "shell";
  /** null: it does not exist. */
  readonly before: string | null;
  /** null: it is removed. */
  readonly after: string | null;
}

/** The effect of one step, determined without any write. */
export interface RehearsedStep {
  readonly stepId: string;
  readonly ok: boolean;
  readonly says: string;
}
