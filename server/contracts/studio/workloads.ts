import type { CategoryQuality } from "@/solver/workload/categoryQuality";
import type { ComparedContent } from "@/solver/workload/compareWorkloads";
import type { Interval } from "@/solver/workload/contentIntervals";
import type { Agreement } from "@/solver/workload/modelAgreement";
import type { MeasuredBy } from "@/solver/workload/workload";
import type { Histogram } from "./outcome";

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
  /** Its prompts are requests that a gateway saw. */
  readonly observed?: true;
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

/** A stage and one behind it, as a gate between them has them. */
export interface JudgedPair {
  readonly smaller: string;
  readonly larger: string;
  /**
   * Chance that of two prompts on which the larger model gains differently, the one on which it gains more has the lower judged score of
   * the smaller one's answer; null: it gains alike on all.
   */
  readonly auc: Interval | null;
}

/** A workload opened: how its lengths, scores and arrivals are spread. Intervals are 90 %, over its prompts. */
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
    /** Judged scores of its answers, apart by whether the label is at least 50. */
    readonly judgedByLabel: { readonly right: Histogram; readonly wrong: Histogram };
    /** Chance that of two of its answers the one with the better label has the higher judged score; null: all labels are alike. */
    readonly judgeAuc: Interval | null;
  }[];
  /** Of every two models, smaller first, how well the smaller one's judged scores tell which prompts to send on. */
  readonly judgedPairs: readonly JudgedPair[];
  /** Every two models, neighbours first. */
  readonly agreement: readonly Agreement[];
  /** Edges are seconds since the first arrival. */
  readonly arrivals: Histogram;
  /** Mean rate in each hour of the day, null where nothing is known of one; null: the arrivals have no clock. */
  readonly byHour: readonly (number | null)[] | null;
  /** Largest first; small ones in one, last. */
  readonly categories: readonly CategoryQuality[];
}

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

/** Two workloads held against each other. */
export interface WorkloadComparison {
  readonly a: WorkloadSummary;
  readonly b: WorkloadSummary;
  readonly content: ComparedContent;
}
