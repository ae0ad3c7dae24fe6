import type { Examination, ExaminedKind, SolveAnswer } from "@/server/contracts/studio";
import type { ExplorationWire } from "@/solver/cascade/explore/explorationWire";
import type { Serving, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource, JudgeVariation } from "@/solver/judging/judgeTime";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { CascadePolicy, Objective, PlanDraft } from "@/solver/plan/plan";
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

/** What the planner is asked about a situation. */
export type PlanningTask =
  /** `around`: explored with all routings that differ from it in one threshold; left out or null: all cascades. */
  | { readonly kind: "explore"; readonly around?: FixedRouting }
  | { readonly kind: "solve"; readonly objective: Objective; readonly fixed: FixedRouting }
  /** One question about the plan that a request leads to, answered on demand: each takes as long as some plans. */
  | { readonly kind: "examine"; readonly objective: Objective; readonly fixed: FixedRouting; readonly examine: ExaminedKind }
  /** What a plan's own policy does on some of its engines, and on others. */
  | { readonly kind: "serve"; readonly servings: readonly Serving[] };

/** A situation with the fields of one kind of task. */
type RequestOf<Kind extends PlanningTask["kind"]> = PlanningSituation & Omit<Extract<PlanningTask, { readonly kind: Kind }>, "kind">;
export type ExploreRequest = RequestOf<"explore">;
export type SolveRequest = RequestOf<"solve">;
export type ExamineRequest = RequestOf<"examine">;

export type PlanningAnswer =
  | { readonly kind: "exploration"; readonly exploration: ExplorationWire }
  | { readonly kind: "draft"; readonly draft: PlanDraft }
  | { readonly kind: "examination"; readonly examination: Examination }
  /** Parallel to the servings. */
  | { readonly kind: "served"; readonly figures: readonly ServingFigures[] }
  | { readonly kind: "infeasible"; readonly answer: Extract<SolveAnswer, { outcome: "infeasible" }> };

/** To the worker: to plan something of its own before the first request, or a request. The workload travels only when the worker does not hold it yet. */
export type WorkerTask =
  | { readonly kind: "warm-up" }
  | {
      readonly kind: "request";
      readonly situation: Omit<PlanningSituation, "workload"> & { readonly workload: Workload | null };
      readonly task: PlanningTask;
    };
