/** A closed loop against an engine as a client saw it: so many requests in flight, each of exactly these lengths, none found in a cache. */
export interface MeasuredRun {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly concurrency: number;
  /** Requests that were answered. */
  readonly requests: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Means and percentiles over all requests. TPOT is null where answers have one token. */
  readonly ttftSeconds: number;
  readonly tpotSeconds: number | null;
  readonly endToEndSeconds: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
}

/** What a run asks for. */
export type RunPoint = Pick<MeasuredRun, "inputTokens" | "outputTokens" | "concurrency">;

/** The lengths of a run, as a key. */
export const lengthsKey = ({ inputTokens, outputTokens }: Pick<RunPoint, "inputTokens" | "outputTokens">): string =>
  `${inputTokens} in, ${outputTokens} out`;

/** The engine that runs were measured on, as the columns of a table name it. */
export interface MeasuredHead {
  readonly engine: string;
  readonly model: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  readonly weights: string;
  /** Empty: not known. */
  readonly maxSequences: number | "";
  readonly maxBatchedTokens: number | "";
}

/** Runs as the CSV file that `weir calibrate --rows` and `weir simulate --rows` read; lengths are exact, so the least share is 1. */
export function measuredTable(runs: readonly MeasuredRun[], head: MeasuredHead): string {
  const ms = (seconds: number | null): string => (seconds === null ? "" : (1000 * seconds).toFixed(3));
  const columns: readonly (readonly [string, (run: MeasuredRun) => string | number])[] = [
    ["engine", () => head.engine],
    ["model", () => head.model],
    ["gpu", () => head.gpu],
    ["tp", () => head.tp],
    ["pp", () => head.pp],
    ["weights", () => head.weights],
    ["max_num_seqs", () => head.maxSequences],
    ["max_num_batched_tokens", () => head.maxBatchedTokens],
    ["input_tokens", (run) => run.inputTokens],
    ["output_tokens", (run) => run.outputTokens],
    ["concurrency", (run) => run.concurrency],
    ["random_range_ratio", () => 1],
    ["n", (run) => run.requests],
    ["ttft_ms", (run) => ms(run.ttftSeconds)],
    ["tpot_ms", (run) => ms(run.tpotSeconds)],
    ["e2e_ms", (run) => ms(run.endToEndSeconds)],
    ["p50_ms", (run) => ms(run.p50Seconds)],
    ["p95_ms", (run) => ms(run.p95Seconds)],
    ["seconds", (run) => run.seconds.toFixed(3)],
  ];
  const lines = [columns.map(([name]) => name), ...runs.map((run) => columns.map(([, value]) => quoted(String(value(run)))))];
  return `${lines.map((cells) => cells.join(",")).join("\n")}\n`;
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
