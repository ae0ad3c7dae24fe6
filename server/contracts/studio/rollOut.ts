import type { PlanPromise } from "./promise";

/** A step's way through the journal. `intended` is written before the act, `done` after it, `verified` when its effect was looked up anew. */
export type JournalEvent = "intended" | "done" | "verified" | "failed" | "cut";

export interface JournalLine {
  readonly at: string;
  /** null: of the application as a whole. */
  readonly stepId: string | null;
  readonly event: JournalEvent | "said";
  readonly detail: string;
}

/** Why a roll-out stopped by itself. */
export interface Halt {
  readonly at: string;
  /** `health`: engines or the gateway fail; `objective`: latency or errors of what is served; `step`: one of its own failed. */
  readonly because: "health" | "objective" | "step";
  readonly sentence: string;
}

/** One figure of a plan held against what was measured after it came into force. */
export interface VerificationCheck extends Omit<PlanPromise, "verdict" | "quantity" | "model"> {
  readonly verdict: "pass" | "fail" | "undecided";
}

/** The window after an application in which its plan has to keep what it promised. */
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
  /** The plan before is to be applied again, since then, and that did not begin yet; `says` tells what it waits for beside the verdict. */
  readonly rollBackDue?: { readonly fromMs: number; readonly verdict: string };
}

/** Routing between two changes of it during a roll-out. */
export interface DipPhase {
  /** Ids of the steps between which it holds, both included. */
  readonly fromStep: string;
  readonly toStep: string;
  /** How long it is expected to last, in engine seconds. */
  readonly seconds: number;
  readonly planId: string | null;
  /** Replicas that take requests, by model of the policy. */
  readonly replicas: readonly { readonly model: string; readonly serving: number; readonly of: number }[];
  /** Requests per engine second that this routing sustains at most; null: nothing is served. */
  readonly capacityPerSecond: number | null;
  /** Simulated; null: it does not keep up. */
  readonly p95Seconds: number | null;
}

/** What a roll-out costs while it runs, simulated. */
export interface RollOutDip {
  readonly requestsPerSecond: number;
  /** Where the rate comes from, and what the figures rest on, a sentence each. */
  readonly basis: readonly string[];
  readonly before: { readonly p95Seconds: number | null; readonly capacityPerSecond: number | null } | null;
  readonly phases: readonly DipPhase[];
  readonly after: { readonly p95Seconds: number | null; readonly capacityPerSecond: number | null };
  /** For an operator: the worst moment, in a sentence. */
  readonly says: string;
}

/** Text that a plan leads to on a cluster, beside what is there now. Equal sides: nothing changes. */
export interface GeneratedFile {
  readonly name: string;
  readonly language: "yaml" | "json" | "shell";
  /** null: it is not there. */
  readonly before: string | null;
  /** null: it goes. */
  readonly after: string | null;
}

/** What one step would do, with every write withheld. */
export interface RehearsedStep {
  readonly stepId: string;
  readonly ok: boolean;
  readonly says: string;
}
