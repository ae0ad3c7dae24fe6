/** How long back rows are taken from. */
export type LiveSpan = "hour" | "day" | "week";

/** Some wall time of an engine that gave no rows, and why, in words. */
interface LeftOutTime {
  readonly reason: string;
  readonly seconds: number;
}

/** What became of one engine's telemetry. */
export interface EngineRows {
  readonly id: string;
  readonly model: string;
  /** What its metrics say it is; null where it is not known any more. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** Windows of steady load; of very many alike only some are rows. */
  readonly windows: number;
  readonly rows: number;
  /** Of the windows. */
  readonly seconds: number;
  readonly leftOut: readonly LeftOutTime[];
  /** Why the engine as a whole gives none, in a sentence; null where it may. */
  readonly refusal: string | null;
}

/** Rows of measured runs made of a cluster's telemetry. */
export interface LiveRows {
  readonly clusterName: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Its engines are emulated: rows of them test the way from telemetry to predictions, not the predictions. */
  readonly emulated: boolean;
  readonly engines: readonly EngineRows[];
  /** The least and the most over all rows; null without rows. */
  readonly spread: {
    readonly concurrency: readonly [number, number];
    readonly inputTokens: readonly [number, number];
    readonly outputTokens: readonly [number, number];
  } | null;
  /** What of the telemetry could not be read, in sentences. */
  readonly problems: readonly string[];
}
