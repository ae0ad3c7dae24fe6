import type { CategoryQuality } from "@/solver/workload/categoryQuality";
import type { Interval } from "@/solver/workload/contentIntervals";
import type { Agreement } from "@/solver/workload/modelAgreement";
import type { Histogram } from "./studio";

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
  }[];
  /** Judged scores of all models' answers, apart by whether the label is at least 50. */
  readonly judgedByLabel: { readonly right: Histogram; readonly wrong: Histogram };
  /** Chance that of two answers the one with the better label has the higher judged score; null: all labels are alike. */
  readonly judgeAuc: Interval | null;
  /** Every two models, neighbours first. */
  readonly agreement: readonly Agreement[];
  /** Edges are seconds since the first arrival. */
  readonly arrivals: Histogram;
  /** Mean rate in each hour of the day, null where nothing is known of one; null: the arrivals have no clock. */
  readonly byHour: readonly (number | null)[] | null;
  /** Largest first; small ones in one, last. */
  readonly categories: readonly CategoryQuality[];
}
