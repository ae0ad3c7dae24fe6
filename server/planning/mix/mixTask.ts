import type { MixBeside, NoMixPlan } from "@/server/contracts/studio";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { UnsealedPlan } from "@/solver/plan/plan";
import type { JustInTimePolicy, RoundChoice } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";

/** Traffic that engines are planned for together. */
export interface MixAsked {
  /** Requests of no declared workflow; null: none. */
  readonly singles: { readonly requestsPerSecond: number; readonly qualityFloor: number } | null;
  readonly workflows: readonly {
    readonly workflow: WorkflowDocument;
    readonly programsPerSecond: number;
    readonly qualityFloor: number;
    /** Predictor of accurate configurations, by hash; left out: all programs have one configuration. */
    readonly predictor?: string | undefined;
  }[];
  /** The rule by which rounds choose models of workflows. */
  readonly selection: RoundChoice;
}

/** The input of a plan for a mix. What runs, if the situation says it, is compared with: the same mix is simulated on it. */
export interface MixTask {
  readonly situation: Omit<PlanningSituation, "requestsPerSecond">;
  readonly mix: MixAsked;
  /** The workload's version in the studio; left out: it has none. */
  readonly workloadVersion?: number;
}

/** What a plan for a mix is doing. */
export type MixPhase = "candidates" | "engines" | "simulation";

/** A plan before it is sealed, or why there is none in a sentence. `beside`: the mix on what runs; null: nothing runs, or it is not known. */
export type MixReply =
  | { readonly ok: true; readonly draft: UnsealedPlan & { readonly policy: JustInTimePolicy }; readonly beside: MixBeside | null }
  | NoMixPlan;
