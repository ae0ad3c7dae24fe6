import type { ComparedAnswers, ConfidenceReading, LearntScorer } from "@/solver/gates/gateDocument";

/** One model's outcomes for every prompt. Arrays are parallel to `OutcomeTable.promptIds`. */
export interface ModelOutcomes {
  /** Id of the model card (`solver/hardware`), the name used in plans. */
  readonly model: string;
  /** The model's name in the table it came from. */
  readonly tableName: string;
  readonly outputTokens: Int32Array;
  /** The quality that counts, 0..100 (correctness, a trusted judge). */
  readonly label: Float64Array;
  /** The score that the gate uses during serving, 0..100. Never the label itself unless the judge is the oracle. */
  readonly judged: Float64Array;
  /** Raw confidence of the model in its own answer by token log probabilities, 0..100; left out where no engine reported them. */
  readonly confidence?: Float64Array;
  /** Share of further answers to the same prompt that agree with this one, 0..100; left out where none were drawn. */
  readonly agreement?: Float64Array;
  /**
   * Score of the answer, 0..100, by the model's scorer in `origin.scorers`, or by one that is trained in the same way without the answer's label;
   * left out where none was trained on texts.
   */
  readonly scorer?: Float64Array;
  /** Score of this model, 0..100, by a router that reads the prompt before any model has answered; left out without a router. */
  readonly routerScore?: Float64Array;
}

/** The same prompts answered by every model of a ladder, smallest model first. */
export interface OutcomeTable {
  readonly promptIds: readonly string[];
  /** Task or category per prompt. */
  readonly categories: readonly string[];
  readonly inputTokens: Int32Array;
  /**
   * Hashes of the blocks with which each prompt begins and another one too (`sharedPrompts`), of `promptBlocks`; left out where the texts were
   * not known. A prompt that is drawn twice shares no more than these with itself: the draws stand for two prompts.
   */
  readonly promptBlocks?: readonly Uint32Array[];
  readonly models: readonly ModelOutcomes[];
}

/** The origin of judged scores. A modelled judge is marked as modelled wherever its results are shown. */
export type JudgeSource = { readonly kind: "measured" } | { readonly kind: "modelled"; readonly auc: number; readonly seed: number };

/** How a profile measured outcomes. */
export interface MeasuredBy {
  /** Engines that answered were emulated: their answers do not describe real models. */
  readonly emulated: boolean;
  /** Ids and names of the measures that gave judged score and label. */
  readonly gate: { readonly id: string; readonly name: string };
  readonly label: { readonly id: string; readonly name: string };
}

/** The origin of a workload, in words an operator can check. */
export interface WorkloadOrigin {
  readonly outcomes: string;
  readonly arrivals: string;
  readonly generated: boolean;
  /** The prompts are requests observed by a gateway; left out everywhere else, and in workloads of earlier versions. */
  readonly observed?: true | undefined;
  /** Left out where the outcomes were given as a table. */
  readonly measured?: MeasuredBy | undefined;
  /** What the columns of agreement compare; left out where there are none, or it is not known: then no plan uses them. */
  readonly agreement?: ComparedAnswers | undefined;
  /** What the columns of confidence hold; left out: the smallest token probability. */
  readonly confidence?: ConfidenceReading | undefined;
  /** By model, scorers that read the words of prompts and answers; their scores are the columns `scorer`. */
  readonly scorers?: Readonly<Record<string, LearntScorer>> | undefined;
  /** Mean rate of the arrivals in each hour of the day, requests/s, null for an unknown hour; left out where they have no clock. */
  readonly byHour?: readonly (number | null)[] | undefined;
}

/**
 * A workload: outcomes of prompts joined to arrivals. The rule of the join: arrival times are those of the trace, divided by
 * a constant so that their mean rate is the requested one; each arrival gets a prompt drawn with replacement by the seed from
 * one part of the table (`planning` or `heldOut`); lengths are those of the prompt and of the model's own answer, never the trace's.
 */
export interface Workload {
  readonly name: string;
  readonly outcomes: OutcomeTable;
  /** Seconds since the first arrival, ascending, as recorded (unscaled). */
  readonly arrivalSeconds: Float64Array;
  readonly judge: JudgeSource;
  readonly origin: WorkloadOrigin;
  /** Seed of the split of prompts and of every draw. */
  readonly seed: number;
}

/** Requests of a sample: arrivals at the requested rate, and the row of the outcome table of each. */
export interface RequestSample {
  readonly arrivalSeconds: Float64Array;
  readonly prompt: Int32Array;
}
