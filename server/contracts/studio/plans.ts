import type { Plan } from "@/solver/plan/plan";
import type { ApplyStep } from "./applications";

/** A plan in lists: without its large parts. */
export interface PlanSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly clusterId: string;
  readonly workloadId: string;
  readonly workloadName: string;
  readonly stages: readonly string[];
  readonly thresholds: readonly number[];
  readonly gpus: number;
  /**
   * As predicted; null, like the next two: there is no prediction of its policy's behaviour, and figures in the document are another
   * plan's.
   */
  readonly quality: number | null;
  readonly p95Seconds: number | null;
  readonly costUsdPerRequest: number | null;
  /** Of its last valid approval on its cluster, or of its last approval if none is valid; null: it was never approved. */
  readonly approvedBy: string | null;
  readonly approvalReason: string | null;
  readonly approvalStanding: ApprovalStanding | null;
  /** Why its figures are only claimed by whoever made it, in a sentence; null: they are this studio's own. */
  readonly claimed: string | null;
  readonly running: boolean;
}

/** `engine`: one engine, covered by a line on its model; `plan`: a model, or how requests are routed. */
export type DiffLine = {
  readonly sign: "+" | "-" | "~" | "=";
  readonly of: "plan" | "engine";
  readonly subject: string;
  readonly text: string;
};

/** What applying a plan would change, computed by the same code that applies it. */
export interface PlanDiff {
  readonly planId: string;
  readonly againstPlanId: string | null;
  readonly lines: readonly DiffLine[];
  readonly steps: readonly ApplyStep[];
  /**
   * Share of a model's serving GPUs that is out of service at the worst moment of the roll-out, 0..1, for the model affected most, relative
   * to the smaller of its numbers before and after. 1: that model answers nothing for a while.
   */
  readonly capacityDip: number;
  /** GPUs that no engine occupies before the first step. */
  readonly spareGpus: number;
  /** Objects on the cluster that are not Weir's and stay unchanged, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Whether an approval is of what a plan and its cluster are now. `earlier-rule`: it was given while approvals covered only cluster,
 * deployment and policy. `changed`: the cluster's connection, which says how engines are started, is another since.
 */
export type ApprovalStanding = "valid" | "earlier-rule" | "changed";

/** One plan approved on one cluster; every other cluster needs another approval. */
export interface Approval {
  readonly planId: string;
  readonly clusterId: string;
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
}

/** A saved plan with everything the studio knows about it. */
export interface KeptPlan {
  readonly plan: Plan;
  readonly summary: PlanSummary;
  readonly approvals: readonly (Approval & { readonly standing: ApprovalStanding })[];
  /** By cluster: the hash that an approval of it there binds to now. */
  readonly approvalHashes: Readonly<Record<string, string>>;
  /** Who saved it first; null: the studio itself, or nobody yet. */
  readonly maker: { readonly id: string; readonly name: string } | null;
}
