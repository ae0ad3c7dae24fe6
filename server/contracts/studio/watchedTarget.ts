/** How a scrape failed: nothing listens, no answer in time, another status than 200, too much, or text that no known engine or exporter writes. */
/** `access`: the key or the certificate that it asks for is not there. */
export type ScrapeFailureKind = "unreachable" | "access" | "timeout" | "status" | "too-large" | "unreadable";

/** Something that happened to a target. */
export interface TargetEvent {
  readonly atMs: number;
  readonly kind: ScrapeFailureKind | "answers" | "counters-reset" | "version-changed";
  /** One sentence or reason, for an operator. */
  readonly text: string;
}

/** How old a target's telemetry is; says nothing of its health. */
export interface TargetState {
  readonly state: "fresh" | "stale" | "unreachable";
  /** Since when it is in this state. */
  readonly sinceMs: number;
  readonly ageSeconds: number;
  readonly reason: string;
  /** How scrapes fail, since when in this way, and when the next is tried; null while they succeed. */
  readonly failing: { readonly kind: ScrapeFailureKind; readonly sinceMs: number; readonly nextTryAtMs: number } | null;
  /** The last few things that happened to it, oldest first; empty in all frames but the newest. */
  readonly events: readonly TargetEvent[];
}

/** A value is not what was measured but the most (`upper`) or the least (`lower`) that it can have been. */
export type Limit = "upper" | "lower";

/** What an engine's metrics say of one quantity. Absent is never zero. */
export type Reading<Value = number> =
  /** null: there is nothing to tell it from yet, as a rate after one scrape or a percentile while no request finished. */
  | {
      readonly state: "value";
      readonly value: Value | null;
      /** Of a percentile that lies in the first or the open bucket of its histogram; left out where the value is no limit. */
      readonly limit?: Limit;
    }
  | { readonly state: "absent"; readonly lookedFor: string }
  /** Engines of this type and version have no such metric. */
  | { readonly state: "not-applicable" };

type Percentiles<Name extends string> = `${Name}P${50 | 95 | 99}Seconds`;

/** Units as in the names; shares 0..1; `kvUse` is of the fullest rank, `kvUseMean` the mean of the ranks. Seconds are engine seconds. */
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

/** Every quantity of an engine; rates, shares of hits, means and percentiles are of the last seconds. */
export type EngineReadings = Readonly<Record<EngineReadingName, Reading>> & {
  /** awake, or how the engine sleeps, in its words. */
  readonly sleepState: Reading<string>;
};
