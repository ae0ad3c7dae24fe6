import { formatCount, formatRate, formatSeconds, formatShare } from "@/components/ui/format";
import type { EngineReadingName, EngineReadings, Reading } from "@/server/contracts/studio";

/** The state of one reading: its value, or one of three reasons for having none. */
export type ReadingCell =
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "nothing yet" }
  | { readonly kind: "absent"; readonly lookedFor: string }
  | { readonly kind: "not applicable" };

/** The current value of a reading; null if it has none for any reason. */
export const knownValue = <Value>(reading: Reading<Value> | undefined): Value | null => (reading?.state === "value" ? reading.value : null);

/** Prefix of a value that is only an upper or a lower bound. */
const limitSigns = { upper: "≤\u00a0", lower: "≥\u00a0", none: "" } as const;

export function readingCell<Value>(reading: Reading<Value>, format: (value: Value) => string): ReadingCell {
  switch (reading.state) {
    case "value":
      return reading.value === null
        ? { kind: "nothing yet" }
        : { kind: "value", text: `${limitSigns[reading.limit ?? "none"]}${format(reading.value)}` };
    case "absent":
      return { kind: "absent", lookedFor: reading.lookedFor };
    case "not-applicable":
      return { kind: "not applicable" };
  }
}

const latencies = {
  ttft: "Time to first token",
  tpot: "Per output token, mean of a request",
  itl: "Between two tokens",
  endToEnd: "Arrival to last token",
  queue: "In the engine's queue",
} as const;
type Latency = keyof typeof latencies;

type FigureName = Exclude<EngineReadingName, `${Latency}${"P50" | "P95" | "P99" | "Mean"}Seconds`>;

const figures: Readonly<Record<FigureName, { readonly name: string; readonly format: (value: number) => string }>> = {
  running: { name: "Running", format: formatCount },
  waiting: { name: "Waiting", format: formatCount },
  kvUse: { name: "KV cache in use, fullest rank", format: formatShare },
  kvUseMean: { name: "KV cache in use, mean of ranks", format: formatShare },
  kvCapacityTokens: { name: "KV cache holds", format: (tokens) => `${formatCount(tokens)}\u00a0tokens` },
  preemptionsPerSecond: { name: "Preemptions", format: formatRate },
  requestsPerSecond: { name: "Requests answered", format: formatRate },
  promptTokensPerSecond: { name: "Prompt tokens read", format: formatRate },
  generationTokensPerSecond: { name: "Tokens written", format: formatRate },
  prefixHitShare: { name: "Found in the prefix cache", format: formatShare },
};

export interface FigureRow {
  readonly name: string;
  readonly cell: ReadingCell;
}

export interface LatencyRow {
  readonly name: string;
  /** Mean, p50, p95, p99; the mean is null where none is kept of it. */
  readonly mean: ReadingCell | null;
  readonly percentiles: readonly [p50: ReadingCell, p95: ReadingCell, p99: ReadingCell];
}

/** All metrics of an engine, in the order of the page. */
export function prepareReadings(readings: EngineReadings): {
  readonly figures: readonly FigureRow[];
  readonly latencies: readonly LatencyRow[];
} {
  const seconds = (reading: Reading) => readingCell(reading, formatSeconds);
  const meanOf = (name: Latency) => (name === "itl" || name === "queue" ? null : seconds(readings[`${name}MeanSeconds`]));
  return {
    figures: [
      ...(Object.keys(figures) as FigureName[]).map((name) => ({
        name: figures[name].name,
        cell: readingCell(readings[name], figures[name].format),
      })),
      { name: "Sleep", cell: readingCell(readings.sleepState, (state) => state.replaceAll("_", " ")) },
    ],
    latencies: (Object.keys(latencies) as Latency[]).map((name) => ({
      name: latencies[name],
      mean: meanOf(name),
      percentiles: [seconds(readings[`${name}P50Seconds`]), seconds(readings[`${name}P95Seconds`]), seconds(readings[`${name}P99Seconds`])],
    })),
  };
}
