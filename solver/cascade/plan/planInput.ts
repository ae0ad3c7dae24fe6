import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { JudgeTimeSource } from "@/solver/judging/judgeTime";
import type { MilpEngine } from "@/solver/milp/engine";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { CascadePolicy, Objective, PlanDraft } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";
import type { ConflictingConstraint } from "../deploy/demands";
import type { NoPlanKind } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import type { FixedRouting } from "../explore/fixedDeployment";

export interface BuildPlanInput {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly workloadId: string;
  readonly cluster: ClusterSpec;
  readonly objective: Objective;
  readonly judge: CascadePolicy["judge"];
  /** Where the time of a judge outside of the deployment is known from; left out: nobody said. */
  readonly judgeTime?: JudgeTimeSource | undefined;
  /** The cards and the engine profile that the explorer's replicas were made from. */
  readonly cards: CardCatalogue;
  readonly profile: EngineProfile;
  /** A routing set by hand; null lets the planner choose. */
  readonly fixed: FixedRouting | null;
  /** Left out: none. Models excluded and shapes asked for are the explorer's already. */
  readonly constraints?: PlanConstraints;
  /** What runs now, for plans that are to change little; left out: nothing. */
  readonly running?: readonly RunningReplica[];
  /** Explores with the models and shapes that other constraints leave, to tell which conflict; null where they leave none. Left out: not told. */
  readonly explorerUnder?: (constraints: PlanConstraints) => Explorer | null;
  readonly engine: MilpEngine;
  /** Seconds since planning began, for the solver's report. */
  readonly elapsedSeconds: () => number;
}

export interface NoPlan {
  readonly outcome: "infeasible";
  readonly kind: NoPlanKind;
  /** In operators' words; nothing is decided by it. */
  readonly reason: string;
  readonly bestQuality: number | null;
  readonly bestLatencySeconds: number | null;
  /** The smallest set of constraints that conflict; left out where it is not the constraints. */
  readonly conflict?: readonly ConflictingConstraint[];
}

export type BuiltPlan = { readonly outcome: "plan"; readonly draft: PlanDraft } | NoPlan;
