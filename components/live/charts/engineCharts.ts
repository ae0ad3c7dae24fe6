import type { EngineReadingName } from "@/server/contracts/studio";
import { drawnAs, ENGINE_WINDOW, engineKey, type LiveChartSpec, percentiles } from "./liveCharts";

/** Three percentiles of one latency from the engine's own metrics. */
function latency(id: string, name: "ttft" | "tpot" | "itl" | "endToEnd" | "queue", title: string): LiveChartSpec {
  return {
    ...drawnAs.seconds,
    id: `engine-${name}`,
    title,
    note: ENGINE_WINDOW,
    series: percentiles((percent) => engineKey(id, `${name}P${percent}Seconds`)),
    empty: "No request gave a value in this time.",
    reads: ([50, 95, 99] as const).map((percent): EngineReadingName => `${name}P${percent}Seconds`),
  };
}

/** Charts of one engine, from its own metrics. */
export function engineCharts(id: string): readonly LiveChartSpec[] {
  const empty = "The engine reported no value in this time.";
  const line = (quantity: Parameters<typeof engineKey>[1], name: string, hue = "var(--ink)", dashed = false) => ({
    key: engineKey(id, quantity),
    name,
    hue,
    dashed,
  });
  return [
    {
      ...drawnAs.count,
      id: "engine-requests",
      title: "Running and waiting",
      note: "requests in batch and queue",
      series: [line("running", "running", "var(--accent)"), line("waiting", "waiting", "var(--accent)", true)],
      empty,
      reads: ["running", "waiting"],
    },
    {
      ...drawnAs.share,
      draws: "max",
      id: "engine-kv",
      title: "KV cache in use",
      series: [line("kvUse", "fullest rank"), line("kvUseMean", "mean of ranks", "var(--ink-3)", true)],
      empty,
      reads: ["kvUse", "kvUseMean"],
    },
    latency(id, "ttft", "Time to first token"),
    latency(id, "tpot", "Time per output token"),
    latency(id, "itl", "Time between tokens"),
    latency(id, "endToEnd", "End to end at the engine"),
    latency(id, "queue", "Time in the engine's queue"),
    {
      ...drawnAs.tokens,
      id: "engine-tokens",
      title: "Tokens",
      series: [line("generationTokensPerSecond", "written", "var(--accent)"), line("promptTokensPerSecond", "read", "var(--ink-3)", true)],
      empty,
      reads: ["generationTokensPerSecond", "promptTokensPerSecond"],
    },
    {
      ...drawnAs.rate,
      id: "engine-rate",
      title: "Requests answered",
      series: [line("requestsPerSecond", "answered")],
      empty,
      reads: ["requestsPerSecond"],
    },
    {
      ...drawnAs.spikes,
      id: "engine-preemptions",
      title: "Preemptions",
      series: [line("preemptionsPerSecond", "evicted from the batch")],
      empty,
      reads: ["preemptionsPerSecond"],
    },
    {
      ...drawnAs.share,
      id: "engine-prefix",
      title: "Prefix cache hits",
      note: "share of prompt tokens",
      series: [line("prefixHitShare", "found in the cache")],
      empty,
      reads: ["prefixHitShare"],
    },
  ];
}
