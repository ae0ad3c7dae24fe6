import type { EngineKind } from "../hardware/engineProfile";
import type { ReplicaShape } from "../hardware/parallelism";

/**
 * One measured run of a real server, taken as a closed loop: `concurrency` requests in flight, prompt and answer lengths drawn
 * uniformly from 80 to 100 % of the nominal ones, no prefix cache, at most `concurrency` sequences in the engine.
 */
export interface ServingRow {
  /** Line of the file it came from, the header being line 1. */
  readonly line: number;
  readonly id: string;
  readonly engine: EngineKind;
  /** Ids of cards. */
  readonly model: string;
  readonly gpu: string;
  readonly precision: "bf16" | "fp8" | "int4";
  readonly kvPrecision: "bf16" | "fp8";
  readonly shape: ReplicaShape;
  /** Nominal lengths. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly concurrency: number;
  /** Means over all requests; null where the row does not say. */
  readonly measured: { readonly ttftSeconds: number | null; readonly tpotSeconds: number | null };
}

/** A row that Weir has no model for. Reported, never guessed. */
export interface UnsupportedRow {
  readonly line: number;
  readonly id: string;
  readonly reason: string;
}
