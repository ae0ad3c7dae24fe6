import type { MeasuredBy } from "@/solver/workload/workload";

/** What a workload was made of, beside its content. */
export interface WorkloadLineage {
  /** Counted among workloads of one name, from 1. */
  readonly version: number;
  /** Workload whose prompts and outcomes these are, with other arrivals; null: none. */
  readonly parentId: string | null;
  /** Job that its outcomes were measured by; null: they came as a table. */
  readonly profileId: string | null;
}

export interface WorkloadSummary extends WorkloadLineage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly generated: boolean;
  /** Left out where the outcomes came as a table. */
  readonly measured?: MeasuredBy;
  readonly outcomesFrom: string;
  readonly arrivalsFrom: string;
  readonly prompts: number;
  readonly planningPrompts: number;
  readonly heldOutPrompts: number;
  readonly arrivals: number;
  readonly recordedRequestsPerSecond: number;
  readonly judge: { readonly kind: "measured" | "modelled"; readonly auc: number | null };
  readonly models: readonly {
    readonly model: string;
    readonly tableName: string;
    readonly meanLabel: number;
    readonly meanOutputTokens: number;
  }[];
  readonly meanInputTokens: number;
}
