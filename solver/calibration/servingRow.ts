import type { EngineLimits } from "../hardware/engineLimits";
import type { EngineKind } from "../hardware/engineProfile";
import type { ReplicaShape } from "../hardware/parallelism";
import type { RowProblem } from "../workload/rowProblems";

/**
 * What a row was measured on: a benchmark's run from its first request to its last; some time of steady load on an engine at work; the
 * same of an emulated engine, whose times the planner's own model made.
 */
export const rowOrigins = ["run", "live", "emulated"] as const;
export type RowOrigin = (typeof rowOrigins)[number];

/**
 * One measurement of a server, taken as a closed loop: `concurrency` requests in flight, no prefix cache. A run's prompt and answer lengths
 * are drawn uniformly from `leastLengthShare`, 80 % unless said, to 100 % of the nominal ones. Of a running engine the mean
 * lengths are known, and are drawn from 80 to 120 % of; its loop had begun long before, its clients at different times.
 */
export interface ServingRow {
  /** Line of the file it came from, the header being line 1. */
  readonly line: number;
  readonly id: string;
  readonly origin: RowOrigin;
  readonly engine: EngineKind;
  /** Ids of cards. */
  readonly model: string;
  readonly gpu: string;
  readonly precision: "bf16" | "fp8" | "int4";
  readonly kvPrecision: "bf16" | "fp8";
  readonly shape: ReplicaShape;
  /** Nominal lengths of a run, else mean ones. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly concurrency: number;
  /** Of the engine: requests beyond `maxSequences` wait inside it. Left out: it ran as many as were in flight. */
  readonly limits?: EngineLimits;
  /** Of a run: its shortest lengths as a share of the nominal ones, 0..1, and how many requests it had; left out: as public runs, see `predictServing`. */
  readonly leastLengthShare?: number;
  readonly requests?: number;
  /** Means over all requests; null where the row does not say. */
  readonly measured: { readonly ttftSeconds: number | null; readonly tpotSeconds: number | null };
}

/** A row that Weir has no model for. Reported, never guessed. */
export interface UnsupportedRow extends RowProblem {
  readonly id: string;
  /** The card that there is not; left out where that is not the reason. */
  readonly missingCard?: { readonly kind: "model" | "gpu"; readonly name: string };
}
