import { mean, quantile } from "@/solver/numeric/quantile";
import type { ClientRun } from "./clientTask";

/** Figures of one run, predicted or measured; seconds. */
export interface RunFigures {
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Means; null where answers are not streamed. */
  readonly ttft: number | null;
  readonly tpot: number | null;
}

/** End to end, first token and tokens of each request. */
export interface Timed {
  readonly endToEndSeconds: ArrayLike<number>;
  readonly ttftSeconds: ArrayLike<number> | null;
  readonly outputTokens: ArrayLike<number>;
}

export function figuresOf({ endToEndSeconds, ttftSeconds, outputTokens }: Timed): RunFigures {
  const all = Float64Array.from(endToEndSeconds);
  const at = (q: number): number => quantile(all, q);
  const perToken = Array.from(all).flatMap((seconds, index) => {
    const tokens = outputTokens[index] ?? 0;
    return ttftSeconds === null || tokens < 2 ? [] : [(seconds - (ttftSeconds[index] ?? 0)) / (tokens - 1)];
  });
  return {
    ...{ mean: mean(all), p50: at(0.5), p95: at(0.95), p99: at(0.99) },
    ttft: ttftSeconds === null ? null : mean(ttftSeconds),
    tpot: ttftSeconds === null || perToken.length === 0 ? null : mean(perToken),
  };
}

/** What a client measured of a run, with its own lag. */
export interface MeasuredRun extends RunFigures {
  /** Requests that were sent. */
  readonly sent: number;
  /** Those that count: answered, and after the warm-up. */
  readonly requests: number;
  /** Failed, and not answered in time. */
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Sending after the schedule, seconds. */
  readonly lateP95: number;
  readonly lateMost: number;
  /** 90 % interval of the p95 by its deviation over consecutive parts of the run. */
  readonly p95Low: number;
  readonly p95High: number;
}

/** Requests at the start of a run that meet an emptier engine than later ones. */
export const WARM_UP_SHARE = 0.1;

/** @param outputTokens of each request, where the answers do not count them. */
export function measuredFigures({ answers, unanswered }: ClientRun, outputTokens: ArrayLike<number>, streamed: boolean): MeasuredRun {
  const sorted = [...answers].sort((a, b) => a.index - b.index);
  const counted = sorted.slice(Math.floor(WARM_UP_SHARE * sorted.length)).filter(({ status }) => status === 200);
  const tokens = counted.map((answer) => answer.outputTokens ?? outputTokens[answer.index] ?? 0);
  const endToEndSeconds = counted.map(({ endSeconds }) => endSeconds);
  const late = Float64Array.from(sorted, ({ lateSeconds }) => lateSeconds);
  const [p95Low, p95High] = blockInterval(endToEndSeconds);
  return {
    ...figuresOf({
      endToEndSeconds,
      ttftSeconds: streamed ? counted.map(({ firstSeconds, endSeconds }) => firstSeconds ?? endSeconds) : null,
      outputTokens: tokens,
    }),
    sent: answers.length + unanswered,
    requests: counted.length,
    failed: unanswered + sorted.filter(({ status }) => status !== 200).length,
    inputTokens: counted.reduce((sum, answer) => sum + (answer.inputTokens ?? 0), 0),
    outputTokens: tokens.reduce((sum, count) => sum + count, 0),
    ...{ lateP95: quantile(late, 0.95), lateMost: late.reduce((most, one) => Math.max(most, one), 0), p95Low, p95High },
  };
}

const BLOCKS = 10;
const BLOCKS_T = 1.833;

/** Student's 90 % interval of the p95 by its deviation over consecutive tenths of the run. */
function blockInterval(seconds: readonly number[]): readonly [low: number, high: number] {
  const size = Math.floor(seconds.length / BLOCKS);
  const all = quantile(Float64Array.from(seconds), 0.95);
  if (size < 2) return [all, all];
  const blocks = Array.from({ length: BLOCKS }, (_, at) => quantile(Float64Array.from(seconds.slice(at * size, (at + 1) * size)), 0.95));
  const centre = mean(blocks);
  const variance = blocks.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (BLOCKS - 1);
  const half = BLOCKS_T * Math.sqrt(variance / BLOCKS);
  return [Math.max(0, all - half), all + half];
}
