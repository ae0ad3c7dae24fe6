import type { LabRun } from "@/server/contracts/studio";
import type { SystemMark } from "./prepareSystems";

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const header = [
  ...[
    "system",
    "programs_per_second_offered",
    "seed",
    "programs",
    "unserved",
    "quality",
    "mean_latency_s",
    "p50_latency_s",
    "p95_latency_s",
  ],
  ...["mean_latency_s_per_token", "p50_latency_s_per_token", "p90_latency_s_per_token", "p95_latency_s_per_token"],
  ...[
    "p99_latency_s_per_token",
    "mean_queue_s",
    "queue_share",
    "longest_wait_s",
    "programs_per_second_served",
    "usd_per_program",
    "preemptions",
  ],
  ...["preempted_share", "promotions", "model_shares", "digest"],
];

/** All cells of a run as CSV, one per line, in the order of the description. Unknown values are empty. */
export function runCsv(run: Pick<LabRun, "cells" | "spec">, marks: readonly SystemMark[]): string {
  const lines = [...run.cells]
    .sort((a, b) => a.system - b.system || a.rate - b.rate || a.seed - b.seed)
    .map((cell) =>
      [
        ...[
          marks[cell.system]?.label ?? "",
          run.spec.rates[cell.rate] ?? "",
          run.spec.seeds[cell.seed] ?? "",
          cell.programs,
          cell.unserved,
        ],
        ...[
          cell.quality ?? "",
          cell.meanSeconds,
          cell.latencyQuantiles[50] ?? "",
          cell.latencyQuantiles[95] ?? "",
          cell.meanSecondsPerToken,
        ],
        ...(["p50", "p90", "p95", "p99"] as const).map((quantile) => cell.secondsPerTokenQuantiles?.[quantile] ?? ""),
        ...[
          cell.meanQueueSeconds,
          cell.queueShare ?? "",
          cell.longestWaitSeconds,
          cell.programsPerSecond,
          cell.usdPerProgram,
          cell.preemptions,
        ],
        ...[cell.preemptedShare ?? "", cell.promotions],
        ...[cell.models.map(({ model, share }) => `${model} ${share}`).join("; "), cell.digest],
      ]
        .map((value) => quoted(String(value)))
        .join(","),
    );
  return `${[header.join(","), ...lines].join("\n")}\n`;
}

/** The complete run with its description: `weir compare --spec` reads it. */
export const runJson = (run: LabRun): string => `${JSON.stringify(run, null, 2)}\n`;
