import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource } from "@/solver/judging/judgeTime";
import type { MilpEngine } from "@/solver/milp/engine";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { CascadePolicy, NoPlanKind, Objective, PlanDraft } from "@/solver/plan/plan";
import type { ConflictingConstraint } from "../deploy/demands";
import type { Explorer } from "../explore/explorer";
import type { FixedRouting } from "../explore/fixedDeployment";
import type { PlanningSituation } from "../explore/situation";

/** The situation that an explorer was made for, and the planning request. */
export interface BuildPlanInput extends PlanningSituation {
  readonly explorer: Explorer;
  readonly objective: Objective;
  /** Latency from which the slack counts where several kinds of policies are compared; left out: that of the fastest cascade. */
  readonly slackFromSeconds?: number;
  /** A routing set by hand; null lets the planner choose. */
  readonly fixed: FixedRouting | null;
  /** Explores with the models and shapes that other constraints leave, to find conflicts; null if none are left. Optional. */
  readonly explorerUnder?: (constraints: PlanConstraints) => Explorer | null;
  readonly engine: MilpEngine;
  /** Seconds since planning began, for the solver's report. */
  readonly elapsedSeconds: () => number;
}

/** The same with all optional fields. */
export interface CompleteInput extends Omit<BuildPlanInput, "judge"> {
  readonly judge: CascadePolicy["judge"];
  /** The origin of the time of an external judge; undefined: unknown. */
  readonly judgeTime: JudgeTimeSource | undefined;
  readonly cards: CardCatalogue;
  readonly profile: EngineProfile;
  readonly constraints: PlanConstraints;
  readonly running: readonly RunningReplica[];
}

export interface NoPlan {
  readonly outcome: "infeasible";
  readonly kind: NoPlanKind;
  /** In operators' words; for display only. */
  readonly reason: string;
  readonly bestQuality: number | null;
  readonly bestLatencySeconds: number | null;
  /** The smallest set of constraints that conflict; left out where constraints are not the reason. */
  readonly conflict?: readonly ConflictingConstraint[];
}

export type BuiltPlan = { readonly outcome: "plan"; readonly draft: PlanDraft } | NoPlan;

/** A plan with what a further search needs. */
export interface Planned {
  readonly outcome: "plan";
  readonly draft: PlanDraft;
  /** The latency that a budget applies to. */
  readonly heldSeconds: number;
  /** The sentences of `draft.solver.why` by subject: what limits the plan, its own deployment, the other cascades. */
  readonly why: { readonly limits: readonly string[]; readonly says: readonly string[]; readonly alternatives: readonly string[] };
}
