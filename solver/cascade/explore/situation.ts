import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource, JudgeVariation } from "@/solver/judging/judgeTime";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { CascadePolicy, PlanDraft } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

/** What is planned for: everything that explorations and plans depend on, beside what is asked of them. */
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
  /** Outside of the deployment, or a model that runs as an engine of its own in it; left out: `DEFAULT_JUDGE`. */
  readonly judge?: FixedJudge | ({ readonly kind: "engine" } & NonNullable<PlanDraft["inputs"]["judgeEngine"]>);
  /** What operators ask of the deployment beside its objective; left out: nothing. */
  readonly constraints?: PlanConstraints;
  /** What runs now, for plans that are to change little; left out: nothing. */
  readonly running?: readonly RunningReplica[];
  /** `given`: what runs is run by somebody else, and plans only choose which models of it get requests. Left out: plans decide what runs. */
  readonly topology?: "given";
  /** A routing set by hand loses the stages that no request reaches, as of a plan that runs under other traffic; left out: it is refused. */
  readonly withIdleStages?: true;
  /** Whether requests that a router of this AUC is sure about may start at a later stage; left out: all start at the first. */
  readonly directStart?: { readonly auc: number };
}

/** A judge of fixed time and cost. */
export interface FixedJudge {
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
