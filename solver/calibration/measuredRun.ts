import { mixSeed, seededRandom } from "../numeric/random";

/** A closed loop against an engine as a client saw it: so many requests in flight of about these lengths, none found in a cache. */
export interface MeasuredRun {
  /** Centres of the requests' lengths. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Half the range of the lengths, over their centre, as `spreadLengths` has them; left out: all requests have the same lengths. */
  readonly spread?: number;
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

/**
 * Lengths of a run's requests in the order in which they are sent: evenly drawn from `1 - spread` to `1 + spread` times the centres, the
 * same at each call. Requests of one length fall into step: all are read at once and end at once, which no other load does.
 */
export function spreadLengths(
  { inputTokens, outputTokens, spread = 0 }: Pick<MeasuredRun, "inputTokens" | "outputTokens" | "spread">,
  count: number,
): { readonly inputTokens: Int32Array; readonly outputTokens: Int32Array } {
  const random = seededRandom(mixSeed("lengths of a run", 1));
  const drawn = (centre: number): number => Math.max(1, Math.round(centre * (1 + spread * (2 * random.next() - 1))));
  const [inputs, outputs] = [new Int32Array(count), new Int32Array(count)];
  for (let at = 0; at < count; at += 1) {
    inputs[at] = drawn(inputTokens);
    outputs[at] = drawn(outputTokens);
  }
  return { inputTokens: inputs, outputTokens: outputs };
}

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
  /** null: not known. */
  readonly maxSequences: number | null;
  readonly maxBatchedTokens: number | null;
}

/**
 * Runs as the CSV file that `weir calibrate --rows` and `weir simulate --rows` read: its lengths are the longest, and the least share is
 * the shortest over the longest.
 */
export function measuredTable(runs: readonly MeasuredRun[], head: MeasuredHead): string {
  const ms = (seconds: number | null): string => (seconds === null ? "" : (1000 * seconds).toFixed(3));
  const columns: readonly (readonly [string, (run: MeasuredRun) => string | number])[] = [
    ["engine", () => head.engine],
    ["model", () => head.model],
    ["gpu", () => head.gpu],
    ["tp", () => head.tp],
    ["pp", () => head.pp],
    ["weights", () => head.weights],
    ["max_num_seqs", () => head.maxSequences ?? ""],
    ["max_num_batched_tokens", () => head.maxBatchedTokens ?? ""],
    ["input_tokens", ({ inputTokens, spread = 0 }) => Math.round(inputTokens * (1 + spread))],
    ["output_tokens", ({ outputTokens, spread = 0 }) => Math.round(outputTokens * (1 + spread))],
    ["concurrency", (run) => run.concurrency],
    ["random_range_ratio", ({ spread = 0 }) => Number(((1 - spread) / (1 + spread)).toFixed(4))],
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
