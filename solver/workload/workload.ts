/** What one model of a ladder did with every prompt. Arrays are parallel to `OutcomeTable.promptIds`. */
export interface ModelOutcomes {
  /** Id of the model card (`solver/hardware`), the name used in plans. */
  readonly model: string;
  /** The model's name in the table it came from. */
  readonly tableName: string;
  readonly outputTokens: Int32Array;
  /** The quality that counts, 0..100 (correctness, a trusted judge). */
  readonly label: Float64Array;
  /** What the gate sees while serving, 0..100. Never the label itself unless the judge is the oracle. */
  readonly judged: Float64Array;
  /** What a router that reads the prompt before any model has answered scores this model, 0..100; left out where there is no router. */
  readonly routerScore?: Float64Array;
}

/** The same prompts answered by every model of a ladder, smallest model first. */
export interface OutcomeTable {
  readonly promptIds: readonly string[];
  /** Task or category per prompt. */
  readonly categories: readonly string[];
  readonly inputTokens: Int32Array;
  readonly models: readonly ModelOutcomes[];
}

/** Where judged scores come from. A modelled judge is called modelled wherever its results are shown. */
export type JudgeSource = { readonly kind: "measured" } | { readonly kind: "modelled"; readonly auc: number; readonly seed: number };

/** What a profile measured outcomes by. */
export interface MeasuredBy {
  /** Engines that answered were emulated: their answers say nothing of real models. */
  readonly emulated: boolean;
  /** Ids and names of the measures that gave judged score and label. */
  readonly gate: { readonly id: string; readonly name: string };
  readonly label: { readonly id: string; readonly name: string };
}

/** Where a workload came from, in words an operator can check. */
export interface WorkloadOrigin {
  readonly outcomes: string;
  readonly arrivals: string;
  readonly generated: boolean;
  /** The prompts are requests that a gateway saw; left out everywhere else, and in workloads of earlier versions. */
  readonly observed?: true | undefined;
  /** Left out where the outcomes came as a table. */
  readonly measured?: MeasuredBy | undefined;
  /** Mean rate of the arrivals in each hour of the day, requests/s, null where nothing is known of one; left out where they have no clock. */
  readonly byHour?: readonly (number | null)[] | undefined;
}

/**
 * A workload: outcomes of prompts joined to arrivals. The rule of the join: arrival times come from the trace, divided by
 * a constant so that their mean rate is the asked one; each arrival gets a prompt drawn with replacement by the seed from
 * one part of the table (`planning` or `heldOut`); lengths are those of the prompt and of the model's own answer, never the trace's.
 */
export interface Workload {
  readonly name: string;
  readonly outcomes: OutcomeTable;
  /** Seconds since the first arrival, ascending, as recorded (unscaled). */
  readonly arrivalSeconds: Float64Array;
  readonly judge: JudgeSource;
  readonly origin: WorkloadOrigin;
  /** Seeds the split of prompts and every draw. */
  readonly seed: number;
}

/** Requests of a sample: arrivals at the asked rate, and which row of the outcome table each one is. */
export interface RequestSample {
  readonly arrivalSeconds: Float64Array;
  readonly prompt: Int32Array;
}
