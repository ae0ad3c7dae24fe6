import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource, JudgeVariation } from "@/solver/judging/judgeTime";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { StartRouter } from "@/solver/plan/directStart";
import type { CascadePolicy, PlanDraft } from "@/solver/plan/plan";
import type { GateDocuments } from "@/solver/stageGates/stageGate";
import type { Workload } from "@/solver/workload/workload";

/** The planning situation: everything that explorations and plans depend on, apart from the objective. */
export interface PlanningSituation {
  readonly workload: Workload;
  /** Hash of the workload's content: the same id always means the same content. */
  readonly workloadId: string;
  readonly cluster: ClusterSpec;
  readonly requestsPerSecond: number;
  /** Model cards to plan with; left out: all models of the workload. */
  readonly models?: readonly string[];
  /** The user's own cards and prices; left out: none. */
  readonly userCards?: UserCards;
  /** Costs of the engines' own work; left out: the built-in profile of vLLM. */
  readonly engineProfile?: EngineProfile;
  /** Confidence at which quality floors must hold; left out: 0.9. */
  readonly qualityConfidence?: number;
  /** A judge outside of the deployment, or a model that runs as a separate engine in it; left out: `DEFAULT_JUDGE`. */
  readonly judge?: FixedJudge | ({ readonly kind: "engine" } & NonNullable<PlanDraft["inputs"]["judgeEngine"]>);
  /** Operators' constraints on the deployment in addition to its objective; left out: none. */
  readonly constraints?: PlanConstraints;
  /** Whether the workload's data may leave the house for the cluster's hosted models; left out: no, and no plan uses them. */
  readonly dataMayLeave?: true;
  /** Length in seconds of the measurement that bands of latencies are for; left out: Live's longest window. */
  readonly measuredSeconds?: number;
  /** The running deployment, for plans that should change little; left out: none. */
  readonly running?: readonly RunningReplica[];
  /** `given`: others operate the deployment, and plans only choose which of its models get requests. Left out: plans decide what runs. */
  readonly topology?: "given";
  /** A routing set by hand loses the stages that no request reaches, for a plan that runs under other traffic; left out: it is refused. */
  readonly withIdleStages?: true;
  /**
   * The router whose confident predictions let requests start at a later stage: modelled, or trained, whose out-of-fold scores the workload's
   * outcomes then have as `routerScore`. Left out: all start at the first.
   */
  readonly directStart?: StartRouter;
  /** Gates in the place of the judge alone, which the workload has scores of, by the model whose answers they score; left out: the judge. */
  readonly gates?: GateDocuments;
  /** Further gates that are planned with on the same workload, so that quality is bounded for all at once; left out: none. */
  readonly rivalGates?: readonly (GateDocuments | null)[];
  /**
   * The trained predictor, by the SHA-256 of its bytes, whose out-of-fold scores the workload's outcomes have as `routerScore`, for slack
   * dispatch; never with another router in `directStart`. Left out: none.
   */
  readonly confidence?: { readonly artefact: string };
}

/** Says that a direct start by a modelled router leaves out the scores of a trained predictor. */
export const MODELLED_START_WITHOUT_CONFIDENCE =
  "The trained predictor of confidence is not used: a modelled router decides where requests start.";

/** A judge of fixed time and cost. */
export interface FixedJudge {
  readonly kind: "fixed";
  /** Name of the judge's model; left out: the emulated judge's. */
  readonly model?: string;
  readonly secondsPerCall: number;
  readonly usdPerCall: number;
  /** How the time of a call varies; left out: it does not. */
  readonly variation?: JudgeVariation;
  /** The origin of the time; left out: unknown. */
  readonly source?: JudgeTimeSource;
}

/** The judge of a situation without one: the source's measured time of a call (appendix H), run on the operator's own hardware. */
export const DEFAULT_JUDGE = { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 } as const;

/** The judge of a situation, as a plan records it. The call time of a judge that is a separate engine follows from its load. */
export function judgeOf({ judge = { kind: "fixed", ...DEFAULT_JUDGE } }: Pick<PlanningSituation, "judge">): CascadePolicy["judge"] {
  if (judge.kind === "engine") {
    const { model, rubricTokens, outputTokens } = judge;
    return { model, secondsPerCall: 0, usdPerCall: 0, engine: { rubricTokens, outputTokens } };
  }
  const { model = DEFAULT_JUDGE.model, secondsPerCall, usdPerCall, variation } = judge;
  return { model, secondsPerCall, usdPerCall, ...(variation === undefined ? {} : { variation }) };
}

export const DEFAULT_QUALITY_CONFIDENCE = 0.9;

/** Percentile of the tables when only an exploration is requested. */
export const DEFAULT_PERCENTILE = 95;
