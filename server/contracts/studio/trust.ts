import { z } from "zod";
import type { Interval } from "@/solver/numeric/interval";

/** The content of a labelling task: it never shows which model answered. */
export interface LabelTask {
  /** Position in the job's own shuffled order. */
  readonly index: number;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly reference: string | null;
  /** One, or two of different models in shuffled order. */
  readonly answers: readonly string[];
}

const labelKinds = ["one", "two"] as const;
export const nextLabelSchema = z.object({ jobId: z.string().min(1), kind: z.enum(labelKinds) });
export const skipLabelSchema = nextLabelSchema.extend({ index: z.int().min(0) });
export type SkipOrder = z.infer<typeof skipLabelSchema>;
export const handLabelSchema = skipLabelSchema.extend({
  /** `one`: quality 0..100. `two`: 100 the first is better, 50 as good, 0 the second is better. */
  quality: z.number().min(0).max(100),
});
export type HandLabelOrder = z.infer<typeof handLabelSchema>;

export interface LabelProgress {
  readonly task: LabelTask | null;
  /** The task that follows when `task` is labelled or skipped, so that it can be shown at once. */
  readonly after: LabelTask | null;
  readonly labelled: number;
  /** By this person in this session: they are shown again in a later one. */
  readonly skipped: number;
  /** The useful number of labels: beyond it intervals hardly narrow. */
  readonly advised: number;
}

/** An estimate with its 90 % interval. */
export type Estimate = Interval;

/** How far a measure can be trusted, judged by manual labels. */
export interface MeasureTrust {
  readonly measureId: string;
  readonly name: string;
  /** Manually labelled answers with a score of this measure. */
  readonly labels: number;
  /** Share of answers on which the measure and the person agree whether the quality is at least 50; null without labels. */
  readonly agreement: Estimate | null;
  /**
   * Chance that it scores a better answer above a worse one of the same model, the situation of a gate: the mean over models, weighted by
   * pairs of labels. For a measure that compares: that it prefers as a person does. null if no labels differ.
   */
  readonly auc: Estimate | null;
  /** The same for each model's answers alone; empty for a measure that compares. */
  readonly aucByModel: readonly { readonly model: string; readonly labels: number; readonly auc: Estimate | null }[];
  /** Mean manual label of the answers with a score in each range. */
  readonly calibration: readonly { readonly from: number; readonly to: number; readonly labels: number; readonly quality: Estimate }[];
  /** For answers judged more than once: standard deviation of one reading in points; null if there were none. */
  readonly noisePoints: number | null;
  /** For pairs judged in both orders: share whose verdict depended on the order; null if there were none. */
  readonly orderFlips: number | null;
  readonly usd: number;
  /** Why it is too weak for the required floor, or not assessed yet, and the remedy; null: it is sufficient. */
  readonly warning: string | null;
}

export interface ProfileTrust {
  readonly floor: number;
  readonly labels: number;
  readonly measures: readonly MeasureTrust[];
  /**
   * Scores at a gateway have moved away from those that were labelled: label some recent answers. null: they have not, or nothing is known.
   */
  readonly recheck: string | null;
}
