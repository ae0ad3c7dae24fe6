import table from "./cases.json" with { type: "json" };

/** A trace and a floor. */
export interface CascadiaCase {
  /** Share of the prompts that are code (crux), the harder task. */
  readonly hardShare: number;
  /** Share of the way from the smallest model's quality to the largest's, on this trace. */
  readonly floor: number;
}

/** A ladder of published answers, its cluster of nodes of eight GPUs, and a small model whose answers its own are compared with. */
export interface CascadiaLadder {
  readonly name: string;
  readonly family: string;
  readonly tasks: readonly string[];
  readonly nodes: number;
  readonly peer: { readonly answers: string; readonly card: string };
  readonly cases: readonly CascadiaCase[];
}

/** A ratio that Weir has to reach against a system: in the mean over cases, or in every case. */
export interface CascadiaTarget {
  readonly against: string;
  readonly figure: string;
  readonly atLeast: number;
  readonly inEveryCase?: boolean;
}

/** Written down before any run; the judge had no engines in runs before 2026-11-29. */
export const cascadiaCases: {
  /** The deadline, in bases. */
  readonly sloScale: number;
  /** Requests of a measurement. */
  readonly requests: number;
  /** Of the split of prompts, the judge's noise and the training of heads. */
  readonly seeds: readonly number[];
  /** Rates at which SLO scales are compared, as shares of CascadeServe's highest. */
  readonly sloRates: readonly number[];
  /** The LLM judge: the card of its engines in the cluster, its modelled reliability, and the tokens of a judgement beside prompt and answer. */
  readonly judge: { readonly card: string; readonly auc: number; readonly rubricTokens: number; readonly outputTokens: number };
  readonly ladders: readonly CascadiaLadder[];
  readonly targets: readonly CascadiaTarget[];
} = table;
