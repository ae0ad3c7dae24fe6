import type { EngineRows, LiveRows } from "@/server/contracts/studio";
import { formatAge, formatCount, formatCounted } from "../ui/format";

/** One engine's line in the table of where rows come from. */
export interface EngineLine {
  readonly id: string;
  readonly engine: string;
  readonly rows: string;
  readonly steady: string;
  /** Why the rest gave no rows, the longest time first. */
  readonly leftOut: readonly string[];
}

/** A reason with less time than this is not mentioned. */
const LEAST_SECONDS = 5;

/** Below this between the most and the least requests in flight, or tokens, rows look alike to a fit. */
const WIDE = 4;

const span = ([least, most]: readonly [number, number]): string =>
  least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`;

const time = (seconds: number): string => (seconds < 1.5 ? "1 s" : formatAge(seconds));

export function engineLines({ engines }: LiveRows): readonly EngineLine[] {
  return engines.map(({ id, engine, windows, rows, seconds, leftOut, refusal }: EngineRows) => ({
    id,
    engine: engine === null ? "not known" : [engine.type, engine.version].filter((part) => part !== null).join(" "),
    rows: windows > rows ? `${formatCount(rows)} of ${formatCount(windows)} alike` : formatCount(rows),
    steady: seconds === 0 ? "none" : time(seconds),
    leftOut:
      refusal !== null
        ? [refusal]
        : leftOut.filter((one) => one.seconds >= LEAST_SECONDS).map((one) => `${time(one.seconds)}: ${one.reason}`),
  }));
}

/** A summary of the rows from a cluster's telemetry: how many, their range, and what a fit can learn from them. */
export function liveSentences({ clusterName, engines, spread, emulated, problems }: LiveRows): readonly string[] {
  const rows = engines.reduce((sum, one) => sum + one.rows, 0);
  const giving = engines.filter((one) => one.rows > 0).length;
  if (spread === null)
    return [
      `No steady load on ${clusterName} lasted long enough for a row: one minute and 100 answered requests of one engine.`,
      ...problems,
    ];
  const { concurrency, inputTokens, outputTokens } = spread;
  const narrow = (range: readonly [number, number]): boolean => range[1] < WIDE * range[0];
  return [
    `${formatCounted(rows, "row")} from ${formatCounted(giving, "engine")}: ${span(concurrency)} requests in flight, ${span(inputTokens)} prompt and ${span(outputTokens)} answer tokens.`,
    ...(emulated
      ? [
          "These engines are emulated and follow the planner's own model or deviate from it on purpose: this tests the path from telemetry to predictions, not real engines.",
        ]
      : []),
    ...(narrow(concurrency) || narrow(inputTokens)
      ? [
          `With so narrow a range of ${[narrow(concurrency) ? "requests in flight" : "", narrow(inputTokens) ? "prompt tokens" : ""].filter(Boolean).join(" and ")} a fit tells only whether everything is faster or slower than predicted; it keeps the other coefficients.`,
        ]
      : []),
    ...problems,
  ];
}

/** A file name, without its ending, of what a table or a profile is called. */
export const fileStem = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "weir";
