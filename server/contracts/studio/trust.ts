import { z } from "zod";
import type { Interval } from "@/solver/numeric/interval";

/** What a person is shown to label: never which model answered. */
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
  /** What comes up once `task` is labelled or skipped, so that it can be shown at once. */
  readonly after: LabelTask | null;
  readonly labelled: number;
  /** Of this person in this sitting: they come up again in a later one. */
  readonly skipped: number;
  /** How many are worth while: beyond it intervals hardly narrow. */
  readonly advised: number;
}

/** An estimate with its 90 % interval. */
export type Estimate = Interval;

/** How far a measure can be trusted, as far as hand labels tell. */
export interface MeasureTrust {
  readonly measureId: string;
  readonly name: string;
  /** Hand-labelled answers that it scored. */
  readonly labels: number;
  /** Share of answers on which it and the person agree whether the quality is at least 50; null without labels. */
  readonly agreement: Estimate | null;
  /**
   * Chance that it puts a better answer above a worse one of the same model, as a gate has them: the mean over models, weighted by pairs of
   * labels. Of a measure that compares, that it prefers as a person does. null where no labels differ.
   */
  readonly auc: Estimate | null;
  /** The same of each model's answers alone; empty of a measure that compares. */
  readonly aucByModel: readonly { readonly model: string; readonly labels: number; readonly auc: Estimate | null }[];
  /** Mean hand label of the answers it scored within each range. */
  readonly calibration: readonly { readonly from: number; readonly to: number; readonly labels: number; readonly quality: Estimate }[];
  /** Of answers judged more than once: standard deviation of one reading in points; null where none was. */
  readonly noisePoints: number | null;
  /** Of pairs judged in both orders: share whose verdict hung on the order; null where none was. */
  readonly orderFlips: number | null;
  readonly usd: number;
  /** Where it is too weak for the floor asked, or nobody can tell yet, and what to do; null: fit for it. */
  readonly warning: string | null;
}

export interface ProfileTrust {
  readonly floor: number;
  readonly labels: number;
  readonly measures: readonly MeasureTrust[];
  /** Scores at a gateway have moved away from those that labels were made for: label some fresh answers. null: they have not, or nothing is known. */
  readonly recheck: string | null;
}
