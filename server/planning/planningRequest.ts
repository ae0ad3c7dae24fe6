import type { Examination, ExaminedKind, PlanningProgress, SolveAnswer } from "@/server/contracts/studio";
import type { ExplorationWire } from "@/solver/cascade/explorationWire";
import type { Serving, ServingFigures } from "@/solver/cascade/servingFigures";
import type { PlanConstraints } from "@/solver/deployment/constraints";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource, JudgeVariation } from "@/solver/judging/judgeTime";
import type { CascadePolicy, ClusterSpec, Objective, PlanDraft, RunningReplica } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

/** What is planned for: everything an exploration depends on. */
export interface PlanningSituation {
  readonly workload: Workload;
  /** Hash of the workload's content: the same id always means the same content. */
  readonly workloadId: string;
  readonly cluster: ClusterSpec;
  readonly requestsPerSecond: number;
  /** Model cards to plan with; left out: all of the workload. */
  readonly models?: readonly string[];
  /** The user's own cards and prices; left out: none. */
  readonly userCards?: UserCards;
  /** What the engines' own work costs; left out: the built-in profile of vLLM. */
  readonly engineProfile?: EngineProfile;
  /** Confidence at which quality floors must hold; left out: 0.9. */
  readonly qualityConfidence?: number;
  /** What a judge call takes and costs; left out: `DEFAULT_JUDGE`. */
  readonly judge?: JudgeChoice;
  /** What operators ask of the deployment beside its objective; left out: nothing. */
  readonly constraints?: PlanConstraints;
  /** What runs now, for plans that are to change little; left out: nothing. */
  readonly running?: readonly RunningReplica[];
  /** `given`: what runs is run by somebody else, and plans only choose which models of it get requests. Left out: plans decide what runs. */
  readonly topology?: "given";
  /** Whether requests that a router of this AUC is sure about may start at a later stage; left out: all start at the first. */
  readonly directStart?: { readonly auc: number };
}

/** A judge of fixed time and cost, or a model that runs as an engine of its own in the deployment. */
export type JudgeChoice =
  | {
      readonly kind: "fixed";
      /** Name of the judge's model; left out: the emulated judge's. */
      readonly model?: string;
      readonly secondsPerCall: number;
      readonly usdPerCall: number;
      /** How the time of a call varies; left out: it does not. */
      readonly variation?: JudgeVariation;
      /** Where the time is known from; left out: nobody said. */
      readonly source?: JudgeTimeSource;
    }
  | { readonly kind: "engine"; readonly model: string; readonly rubricTokens: number; readonly outputTokens: number };

/** A routing set by hand; null lets the planner choose. */
export type FixedRouting = {
  readonly models: readonly string[];
  readonly thresholds: readonly number[];
  /** Router score from which a request starts at a stage; left out or 0: all start at the first. */
  readonly startBelow?: number | undefined;
  /** Stages that no request reaches are left out, as of a plan that runs under other traffic; left out: the routing is refused. */
  readonly withIdleStages?: true;
} | null;

export interface ExploreRequest extends PlanningSituation {
  /** Explored with all routings that differ from it in one threshold, in place of all cascades; left out or null: all cascades. */
  readonly around?: FixedRouting;
}

export interface SolveRequest extends PlanningSituation {
  readonly objective: Objective;
  readonly fixed: FixedRouting;
}

/** One question about the plan that a request leads to, answered on demand: each takes as long as some plans. */
export interface ExamineRequest extends SolveRequest {
  readonly examine: ExaminedKind;
}

/** The judge of a situation that names no other: the source's measured time of a call (appendix H), run on the operator's own hardware. */
export const DEFAULT_JUDGE = { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 } as const;

/** The judge of a situation, as a plan names it. What an engine of its own takes for a call follows from its load. */
export function judgeOf({ judge = { kind: "fixed", ...DEFAULT_JUDGE } }: Pick<PlanningSituation, "judge">): CascadePolicy["judge"] {
  if (judge.kind === "engine") {
    const { model, rubricTokens, outputTokens } = judge;
    return { model, secondsPerCall: 0, usdPerCall: 0, engine: { rubricTokens, outputTokens } };
  }
  const { model = DEFAULT_JUDGE.model, secondsPerCall, usdPerCall, variation } = judge;
  return { model, secondsPerCall, usdPerCall, ...(variation === undefined ? {} : { variation }) };
}

export const DEFAULT_QUALITY_CONFIDENCE = 0.9;

/** Percentile that tables are made for when only an exploration is asked. */
export const DEFAULT_PERCENTILE = 95;

export type PlanningTask =
  | { readonly kind: "explore"; readonly around?: FixedRouting }
  | { readonly kind: "solve"; readonly objective: Objective; readonly fixed: FixedRouting }
  | { readonly kind: "examine"; readonly objective: Objective; readonly fixed: FixedRouting; readonly examine: ExaminedKind }
  /** What a plan's own policy does on some of its engines, and on others. */
  | { readonly kind: "serve"; readonly servings: readonly Serving[] };

export type PlanningAnswer =
  | { readonly kind: "exploration"; readonly exploration: ExplorationWire }
  | { readonly kind: "draft"; readonly draft: PlanDraft }
  | { readonly kind: "examination"; readonly examination: Examination }
  /** Parallel to the servings. */
  | { readonly kind: "served"; readonly figures: readonly ServingFigures[] }
  | { readonly kind: "infeasible"; readonly answer: Extract<SolveAnswer, { outcome: "infeasible" }> };

/** What the worker is started with. */
export interface WorkerStart {
  /** Whether it plans something of its own before the first request. */
  readonly warm: boolean;
}

/** To the worker. The workload travels only when the worker does not hold it yet. */
export interface WorkerRequest {
  readonly id: number;
  readonly situation: Omit<PlanningSituation, "workload"> & { readonly workload: Workload | null };
  readonly task: PlanningTask;
  /** One Int32: set to 1 by the planner when nobody waits for the answer any more. */
  readonly stop: SharedArrayBuffer;
}

/** From the worker: any number of `progress`, then one of the others. */
export type WorkerReply =
  | { readonly id: number; readonly outcome: "progress"; readonly progress: PlanningProgress }
  | { readonly id: number; readonly outcome: "answer"; readonly answer: PlanningAnswer }
  | { readonly id: number; readonly outcome: "cancelled" }
  | { readonly id: number; readonly outcome: "failed"; readonly message: string };
