import type { CategoryQuality } from "@/solver/workload/categoryQuality";
import type { ComparedContent } from "@/solver/workload/compareWorkloads";
import type { Interval } from "@/solver/workload/contentIntervals";
import type { Agreement } from "@/solver/workload/modelAgreement";
import type { MeasuredBy } from "@/solver/workload/workload";
import type { Histogram } from "./outcome";

/** The origin of a workload, stored with its content. */
export interface WorkloadLineage {
  /** Version among workloads of one name, from 1. */
  readonly version: number;
  /** Workload that shares these prompts and outcomes, with other arrivals; null: none. */
  readonly parentId: string | null;
  /** Job that measured its outcomes; null: they were uploaded as a table. */
  readonly profileId: string | null;
}

export interface WorkloadSummary extends WorkloadLineage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly generated: boolean;
  /** Its prompts are requests seen by a gateway. */
  readonly observed?: true;
  /** Absent if the outcomes were uploaded as a table. */
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

/** A stage and a later one, as for a gate between them. */
export interface JudgedPair {
  readonly smaller: string;
  readonly larger: string;
  /**
   * Chance that of two prompts with different gains by the larger model, the one with the larger gain has the lower judged score of the
   * smaller model's answer; null: all gains are equal.
   */
  readonly auc: Interval | null;
}

/** A workload in detail: the distributions of its lengths, scores and arrivals. Intervals are 90 %, over its prompts. */
export interface WorkloadDetail {
  readonly inputTokens: Histogram;
  readonly models: readonly {
    readonly model: string;
    readonly outputTokens: Histogram;
    readonly label: Histogram;
    readonly judged: Histogram;
    /** Mean label, 0..100. */
    readonly quality: Interval;
    readonly meanJudged: Interval;
    readonly meanOutputTokens: Interval;
    /** Judged scores of its answers, split by whether the label is at least 50. */
    readonly judgedByLabel: { readonly right: Histogram; readonly wrong: Histogram };
    /** Chance that of two of its answers the one with the better label has the higher judged score; null: all labels are equal. */
    readonly judgeAuc: Interval | null;
  }[];
  /** For every two models, smaller first, how well the smaller one's judged scores identify the prompts to escalate. */
  readonly judgedPairs: readonly JudgedPair[];
  /** Every pair of models, neighbours first. */
  readonly agreement: readonly Agreement[];
  /** Edges are seconds since the first arrival. */
  readonly arrivals: Histogram;
  /** Mean rate in each hour of the day, null in an hour without data; null: the arrivals have no clock. */
  readonly byHour: readonly (number | null)[] | null;
  /** Largest first; small ones are combined in the last. */
  readonly categories: readonly CategoryQuality[];
}

/** Name of a workload for references. */
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
  /** null: no floor was required. */
  readonly qualityFloor: number | null;
  /** Whether it is in force on its cluster. */
  readonly inForce: boolean;
}

/** The origin of a workload, and what was made from it. */
export interface WorkloadTies {
  /** Job that measured its outcomes; null: they were uploaded as a table, or the job was removed. */
  readonly job: { readonly id: string; readonly name: string } | null;
  readonly promptSet: { readonly id: string; readonly name: string } | null;
  /** Workload that shares these prompts and outcomes; null: none, or it was removed. */
  readonly parent: WorkloadName | null;
  /** Workloads with the same prompts and other arrivals, oldest first. */
  readonly children: readonly WorkloadName[];
  /** Newest first. */
  readonly plans: readonly TiedPlan[];
}

/** Number of plans for each workload that has any, by its id. */
export type WorkloadUses = Readonly<Record<string, number>>;

/** A comparison of two workloads. */
export interface WorkloadComparison {
  readonly a: WorkloadSummary;
  readonly b: WorkloadSummary;
  readonly content: ComparedContent;
}
