import { z } from "zod";
import { quantile } from "../numeric/quantile";
import type { Random } from "../numeric/random";

/** Maximum mean seconds of a judge call that can be entered. */
export const JUDGE_SECONDS_BOUNDS = { min: 0, max: 600 } as const;

/** Variation of the time of a call to a judge outside of the deployment about its mean. */
export const judgeVariationSchema = z.object({
  /** Tokens of prompt and answer together at which a call has the mean time. */
  tokens: z.number().positive(),
  /** Share of the mean that is proportional to those tokens. */
  lengthShare: z.number().min(0).max(1),
  /** Standard deviation of the natural logarithm of the time, among calls of one length. */
  logSpread: z.number().min(0).max(5),
});

export type JudgeVariation = z.infer<typeof judgeVariationSchema>;

/** The origin of the time of a judge outside of the deployment. */
export const judgeTimeSourceSchema = z.object({
  kind: z.enum(["measured-at-attach", "measured-from-traffic", "entered", "assumed"]),
  /** Number of measured calls; left out where there are none. */
  calls: z.int().positive().optional(),
  /** Time of the latest of them. */
  measuredAt: z.iso.datetime().optional(),
});

export type JudgeTimeSource = z.infer<typeof judgeTimeSourceSchema>;

/** The source in words, as after "0.05 s a call, ". */
export function judgeSourceText({ kind, calls }: JudgeTimeSource): string {
  const counted = calls === undefined ? "" : ` (${calls} call${calls === 1 ? "" : "s"})`;
  switch (kind) {
    case "measured-at-attach":
      return `measured by a test of the judge${counted}`;
    case "measured-from-traffic":
      return `measured in traffic${counted}`;
    case "entered":
      return "entered, not measured";
    case "assumed":
      return "assumed, not measured";
  }
}

/** A call to a judge whose time was measured. */
export interface TimedCall {
  /** Tokens of prompt and answer together. */
  readonly tokens: number;
  readonly seconds: number;
}

/** A judge's time from measured calls. */
export interface JudgeTimes {
  readonly calls: number;
  readonly meanSeconds: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  readonly variation: JudgeVariation;
}

/** Distance in standard deviations between the median and the 95th percentile of a normal distribution. */
const NORMAL_P95 = 1.6448536269514722;

/** A factor with mean 1 for the deviation of one call from the mean of its length: lognormal. */
export const spreadFactor = (random: Pick<Random, "lognormal">, { logSpread }: Pick<JudgeVariation, "logSpread">): number =>
  logSpread === 0 ? 1 : random.lognormal(-(logSpread ** 2) / 2, logSpread);

/** Mean seconds of calls with this many tokens. */
export function secondsAt(meanSeconds: number, { tokens: usual, lengthShare }: JudgeVariation, tokens: number): number {
  return meanSeconds * (1 + lengthShare * (tokens / usual - 1));
}

/**
 * Spread of the logarithm of a lognormal time with this mean and this 95th percentile; null where there is none: a p95 below the mean, or
 * above 3.87 times the mean.
 */
export function logSpreadOf(meanSeconds: number, p95Seconds: number): number | null {
  const reach = Math.log(p95Seconds / meanSeconds);
  const inner = NORMAL_P95 ** 2 - 2 * reach;
  return reach >= 0 && inner >= 0 ? NORMAL_P95 - Math.sqrt(inner) : null;
}

/**
 * Mean, percentiles and variation of measured calls: a straight line over the tokens by least squares, its slope and its value at 0 tokens
 * not below 0, and the spread of the logarithms about it. Calls of one length do not show the growth with length; it is then 0.
 *
 * @returns null where no call took any time.
 */
export function fitJudgeTimes(calls: readonly TimedCall[]): JudgeTimes | null {
  const timed = calls.filter(({ seconds }) => seconds > 0 && Number.isFinite(seconds));
  if (timed.length === 0) return null;
  const count = timed.length;
  const meanOf = (of: (call: TimedCall) => number): number => timed.reduce((sum, call) => sum + of(call), 0) / count;
  const meanSeconds = meanOf(({ seconds }) => seconds);
  const tokens = Math.max(
    1,
    meanOf((call) => call.tokens),
  );
  const spreadOfTokens = meanOf((call) => (call.tokens - tokens) ** 2);
  const slope = spreadOfTokens > 0 ? meanOf((call) => (call.tokens - tokens) * (call.seconds - meanSeconds)) / spreadOfTokens : 0;
  const lengthShare = Math.min(1, Math.max(0, (slope * tokens) / meanSeconds));
  const shape: JudgeVariation = { tokens, lengthShare, logSpread: 0 };
  const logs = timed.map((call) => Math.log(call.seconds / Math.max(1e-9, secondsAt(meanSeconds, shape, call.tokens))));
  const middle = logs.reduce((sum, log) => sum + log, 0) / count;
  const logSpread = count < 2 ? 0 : Math.sqrt(logs.reduce((sum, log) => sum + (log - middle) ** 2, 0) / (count - 1));
  const seconds = timed.map((call) => call.seconds).sort((a, b) => a - b);
  return {
    calls: count,
    meanSeconds,
    p50Seconds: quantile(seconds, 0.5),
    p95Seconds: quantile(seconds, 0.95),
    variation: { ...shape, logSpread: Math.min(5, logSpread) },
  };
}
