/** The span of past time from which rows are taken. */
export type LiveSpan = "hour" | "day" | "week";

/** Wall time of an engine without rows, and why, in words. */
interface LeftOutTime {
  readonly reason: string;
  readonly seconds: number;
}

/** The result for one engine's telemetry. */
export interface EngineRows {
  readonly id: string;
  readonly model: string;
  /** Type and version from its metrics; null if it is no longer known. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** Windows of steady load; of many similar ones only some become rows. */
  readonly windows: number;
  readonly rows: number;
  /** Total of the windows. */
  readonly seconds: number;
  readonly leftOut: readonly LeftOutTime[];
  /** Why the engine as a whole gives no rows, in a sentence; null if it may. */
  readonly refusal: string | null;
}

/** Rows of measured runs, made from a cluster's telemetry. */
export interface LiveRows {
  readonly clusterName: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Its engines are emulated: rows of them test the path from telemetry to predictions, not the predictions. */
  readonly emulated: boolean;
  readonly engines: readonly EngineRows[];
  /** The smallest and the largest over all rows; null without rows. */
  readonly spread: {
    readonly concurrency: readonly [number, number];
    readonly inputTokens: readonly [number, number];
    readonly outputTokens: readonly [number, number];
  } | null;
  /** The parts of the telemetry that could not be read, in sentences. */
  readonly problems: readonly string[];
}
