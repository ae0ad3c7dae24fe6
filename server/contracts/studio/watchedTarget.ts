/** How a scrape failed: nothing listens, no answer in time, another status than 200, too much, or text that no known engine or exporter writes. */
/** `access`: the key or the certificate that it requires is missing. */
export type ScrapeFailureKind = "unreachable" | "access" | "timeout" | "status" | "too-large" | "unreadable";

/** Something that happened to a target. */
export interface TargetEvent {
  readonly atMs: number;
  readonly kind: ScrapeFailureKind | "answers" | "counters-reset" | "version-changed";
  /** One sentence or reason, for an operator. */
  readonly text: string;
}

/** The age of a target's telemetry; it says nothing about its health. */
export interface TargetState {
  readonly state: "fresh" | "stale" | "unreachable";
  /** Since when it is in this state. */
  readonly sinceMs: number;
  readonly ageSeconds: number;
  readonly reason: string;
  /** The kind of the scrapes' failure, its start, and the time of the next attempt; null while they succeed. */
  readonly failing: { readonly kind: ScrapeFailureKind; readonly sinceMs: number; readonly nextTryAtMs: number } | null;
  /** The last few things that happened to it, oldest first; empty in all frames but the newest. */
  readonly events: readonly TargetEvent[];
}

/** The true value is at most (`upper`) or at least (`lower`) the reported one. */
export type Limit = "upper" | "lower";

/** The value of one quantity in an engine's metrics. Absent is never zero. */
export type Reading<Value = number> =
  /** null: there is no basis for it yet, for example for a rate after one scrape, or for a percentile while no request finished. */
  | {
      readonly state: "value";
      readonly value: Value | null;
      /** For a percentile in the first or the open bucket of its histogram; absent if the value is no limit. */
      readonly limit?: Limit;
    }
  | { readonly state: "absent"; readonly lookedFor: string }
  /** Engines of this type and version have no such metric. */
  | { readonly state: "not-applicable" };

type Percentiles<Name extends string> = `${Name}P${50 | 95 | 99}Seconds`;

/**
 * Units as in the names; shares 0..1; `kvUse` is that of the fullest rank, `kvUseMean` the mean of the ranks. Seconds are engine seconds.
 */
export type EngineReadingName =
  | "running"
  | "waiting"
  | "kvUse"
  | "kvUseMean"
  | "kvCapacityTokens"
  | "preemptionsPerSecond"
  | "requestsPerSecond"
  | "promptTokensPerSecond"
  | "generationTokensPerSecond"
  | "prefixHitShare"
  | "ttftMeanSeconds"
  | "tpotMeanSeconds"
  | "endToEndMeanSeconds"
  | Percentiles<"ttft" | "tpot" | "itl" | "endToEnd" | "queue">;

/** Every quantity of an engine; rates, hit shares, means and percentiles cover the last seconds. */
export type EngineReadings = Readonly<Record<EngineReadingName, Reading>> & {
  /** awake, or the engine's own name of its sleep state. */
  readonly sleepState: Reading<string>;
};
