import type { Measure, Prompt, UnscoredKind } from "@/server/contracts/studio";

/** What one reading of an answer by a measure gave: 0..100 from that answer's point of view, also where a pair was shown in the other order. */
export type Reading = { readonly score: number } | { readonly unscored: UnscoredKind };

/** What a measure reads. */
export interface ReadAnswer {
  readonly prompt: Prompt;
  readonly answer: string;
  /** Of the model that a pairwise measure compares with; null for others, and where the answer is that model's own. */
  readonly other: string | null;
}

/** What has to be done for one reading. */
export type ReadingWork =
  /** A chat request to the measure's judge; the sender sets the model. */
  | {
      readonly kind: "judge";
      readonly body: { readonly messages: readonly unknown[]; readonly max_tokens: number; readonly temperature: number };
      read(reply: string): Reading;
    }
  /** Done here: without a call, perhaps in a separate process. Never rejects except when aborted. */
  | { readonly kind: "local"; run(signal: AbortSignal): Promise<Reading> }
  /** Nothing to do: an answer compared with itself, or a prompt without what the measure needs. */
  | { readonly kind: "known"; readonly reading: Reading };

/**
 * What `measures/readings.ts` gives for every kind of measure. Readings of one answer are counted from 0. Without swap, reading r is the
 * r-th repeat; with swap, readings 2r and 2r + 1 are the r-th repeat in both orders.
 */
export interface MeasureReadings {
  /** Readings of each answer. */
  readingCount(measure: Measure): number;
  readingWork(measure: Measure, reading: number, read: ReadAnswer): ReadingWork;
  /** The score that counts, of those of all readings of one answer in order (null: that one gave none): the first repeat's, for swapped pairs the mean of its orders. */
  countedScore(measure: Measure, scores: readonly (number | null)[]): number | null;
}
