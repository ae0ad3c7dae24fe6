import type { EngineLimits } from "../hardware/engineLimits";
import type { EngineKind } from "../hardware/engineProfile";
import type { ReplicaShape } from "../hardware/parallelism";
import type { RowProblem } from "../workload/rowProblems";

/**
 * The measurement behind a row: a benchmark's run from its first request to its last; an interval of steady load on a live engine; the
 * same of an emulated engine, whose times are from the planner's own model.
 */
export const rowOrigins = ["run", "live", "emulated"] as const;
export type RowOrigin = (typeof rowOrigins)[number];

/**
 * One measurement of a server, taken as a closed loop: `concurrency` requests in flight, no prefix cache. A run's prompt and answer lengths
 * are drawn uniformly from `leastLengthShare`, by default 80 %, to 100 % of the nominal ones. For a live engine the mean
 * lengths are known, and lengths are drawn from 80 to 120 % of them; its loop had begun long before, its clients at different times.
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
  /** Of the engine: requests beyond `maxSequences` wait inside it. Left out: it ran all requests in flight. */
  readonly limits?: EngineLimits;
  /**
   * Of a run: minimum lengths as a share of the nominal ones, 0..1, and number of requests; left out: as public runs, see `predictServing`.
   */
  readonly leastLengthShare?: number;
  readonly requests?: number;
  /** Means over all requests; null where the row has none. */
  readonly measured: { readonly ttftSeconds: number | null; readonly tpotSeconds: number | null };
}

/** A row that Weir has no model for. Reported, never guessed. */
export interface UnsupportedRow extends RowProblem {
  readonly id: string;
  /** The missing card; left out where that is not the reason. */
  readonly missingCard?: { readonly kind: "model" | "gpu"; readonly name: string };
}
