import type { CategoryQuality } from "@/solver/workload/categoryQuality";
import type { Interval } from "@/solver/workload/contentIntervals";
import type { Agreement } from "@/solver/workload/modelAgreement";
import type { Histogram } from "./studio";

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
