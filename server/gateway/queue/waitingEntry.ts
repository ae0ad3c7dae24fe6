import type { Action, Evidence, PolicyReason, RefusalCause, WaitingWork, WorkflowCall } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { Replica } from "../engines/replica";

/** The policy's decision about queued work. */
export type Grant =
  | {
      readonly kind: "granted";
      readonly replica: Replica;
      /** The stage that it is sent to: usually another than it waited for if models are chosen at dispatch. */
      readonly stage: number;
      /** What the policy decided without, for example telemetry; null if nothing. */
      readonly degraded: string | null;
      /** For an engine's own queue, lower first: the order's key, rounded; null if the order has no keys. */
      readonly priority: number | null;
      readonly queuedSeconds: number;
      readonly dispatchedSeconds: number;
      /** When the search for its accurate configurations ended; null: before it waited, or none was made. */
      readonly searchedSeconds: number | null;
    }
  /** The engines of its model have left the configuration. */
  | { readonly kind: "withdrawn" }
  /** Its stage cannot answer it, and another must. */
  | { readonly kind: "skip"; readonly stage: number; readonly reason: PolicyReason; readonly skipped: readonly number[] }
  | Refused
  | { readonly kind: "aborted" };

/** Nothing can serve it under the policy's rules. */
interface Refused {
  readonly kind: "refused";
  readonly cause: RefusalCause;
  readonly reason: string;
}

export type Judgement =
  | (Extract<Action, { kind: "accept" | "escalate" }> & { readonly judgedSeconds: number })
  | Refused
  | { readonly kind: "aborted" };

/** The policy failed while it decided on it. */
export interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
}

/** A search for the accurate configurations of work, which may still run. */
export interface WorkSearch {
  readonly runs: boolean;
  /** What was found; undefined while it runs, or where nothing was. */
  readonly accurate: Uint32Array | undefined;
  /** As `WaitingWork.margins`; undefined as well if the policy reads none. */
  readonly margins: Int8Array | undefined;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<void>;
}

/** Absent times are set to the moment at which the work reaches the driver. */
export type Work = Omit<WaitingWork, "state" | "searching" | Times> & {
  readonly [Time in Times]?: number | undefined;
} & {
  /** The forecast in force, recorded with the engine seconds at which the work gets it; absent: it keeps its own. */
  readonly reforecast?: ((nowSeconds: number) => AgentForecast | undefined) | undefined;
  /** The search for its accurate configurations; null or absent: none is made. */
  readonly search?: WorkSearch | null | undefined;
};
type Times = "programArrivalSeconds" | "queuedSinceSeconds";

/** Work as the policy sees it. Its members are written out: spreads cost twenty times as much, and more than the policy's decision. */
export class WaitingEntry implements WaitingWork {
  readonly id: string;
  readonly programId: string;
  readonly stage: number;
  readonly programArrivalSeconds: number;
  readonly queuedSinceSeconds: number;
  readonly inputTokens: number;
  readonly predictedTokens: number | undefined;
  readonly predictedProgramTokens: number | undefined;
  readonly dueSeconds: number | undefined;
  readonly call: WorkflowCall | undefined;
  accurate: Uint32Array | undefined;
  margins: Int8Array | undefined;
  searching: boolean | undefined;
  /** Engine seconds at which its search ended; null: no search ran while it waited. */
  searchedSeconds: number | null = null;
  forecast: AgentForecast | undefined;
  readonly failedStages: readonly number[] | undefined;
  readonly barredStages: readonly number[] | undefined;
  readonly answeredStages: readonly number[] | undefined;
  readonly evidence: Evidence | undefined;
  readonly promptBlocks: Uint32Array | undefined;
  readonly state: WaitingWork["state"];
  readonly #reforecast: Work["reforecast"];
  /** Null while it waits. */
  outcome: Grant | Judgement | Failed | null = null;
  /** Called with the outcome; null: nobody waits for it, since it comes at once. */
  onSettled: ((outcome: Grant | Judgement | Failed) => void) | null = null;

  constructor(work: Work, state: WaitingWork["state"], nowSeconds: number) {
    this.id = work.id;
    this.programId = work.programId;
    this.stage = work.stage;
    this.programArrivalSeconds = work.programArrivalSeconds ?? nowSeconds;
    this.queuedSinceSeconds = work.queuedSinceSeconds ?? nowSeconds;
    this.inputTokens = work.inputTokens;
    this.predictedTokens = work.predictedTokens;
    this.predictedProgramTokens = work.predictedProgramTokens;
    this.dueSeconds = work.dueSeconds;
    this.call = work.call;
    this.accurate = work.accurate;
    this.margins = work.margins;
    this.searching = (state.kind === "queued" && work.search?.runs) || undefined;
    this.forecast = work.forecast;
    this.failedStages = work.failedStages;
    this.barredStages = work.barredStages;
    this.answeredStages = work.answeredStages;
    this.evidence = work.evidence;
    this.promptBlocks = work.promptBlocks;
    this.state = state;
    this.#reforecast = work.reforecast;
  }

  settle(outcome: Grant | Judgement | Failed): void {
    this.outcome = outcome;
    this.onSettled?.(outcome);
  }

  /** Its search has ended with these configurations. */
  searched({ accurate, margins }: Pick<WaitingWork, "accurate" | "margins">, nowSeconds: number): void {
    this.accurate = accurate;
    this.margins = margins;
    this.searching = undefined;
    this.searchedSeconds = nowSeconds;
  }

  /** Takes the forecast in force. */
  reforecast(nowSeconds: number): void {
    if (this.#reforecast !== undefined) this.forecast = this.#reforecast(nowSeconds);
  }
}
