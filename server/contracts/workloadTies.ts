/** A workload as others name it. */
export interface WorkloadName {
  readonly id: string;
  readonly name: string;
  readonly version: number;
}

/** A plan made from a workload. */
export interface TiedPlan {
  readonly id: string;
  readonly clusterId: string;
  readonly clusterName: string;
  readonly createdAt: string;
  readonly requestsPerSecond: number;
  /** null: none was asked for. */
  readonly qualityFloor: number | null;
  /** Whether it is in force on its cluster. */
  readonly inForce: boolean;
}

/** What a workload came from, and what was made from it. */
export interface WorkloadTies {
  /** Job that its outcomes were measured by; null: they came as a table, or the job is gone. */
  readonly job: { readonly id: string; readonly name: string } | null;
  readonly promptSet: { readonly id: string; readonly name: string } | null;
  /** Workload whose prompts and outcomes these are; null: none, or it was removed. */
  readonly parent: WorkloadName | null;
  /** The same with other arrivals, oldest first. */
  readonly children: readonly WorkloadName[];
  /** Newest first. */
  readonly plans: readonly TiedPlan[];
}

/** How many plans rest on each workload that any rests on, by its id. */
export type WorkloadUses = Readonly<Record<string, number>>;
