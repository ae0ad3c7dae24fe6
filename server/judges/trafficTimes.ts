import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { JudgeTraffic } from "@/server/contracts/studio/judges";
import { fitJudgeTimes, type TimedCall } from "@/solver/judging/judgeTime";

/** Minimum number of judgements for the judge's time in the traffic: the mean of 50 is within some 15 % if the spread equals the mean. */
const LEAST_JUDGEMENTS = 50;
/** Newest judgements that are taken at most, and how far before the latest they reach: a judge that changed shows within minutes. */
const MOST_JUDGEMENTS = 2_000;
const REACH_MS = 10 * 60_000;

export interface TrafficOptions {
  /** Since when the judge is the one it is. */
  readonly sinceMs: number;
  /** Whether answers under a plan are judged by the judge outside of it. */
  readonly isOutside: (planId: string) => boolean;
}

interface SeenCall {
  readonly atMs: number;
  readonly seconds: number;
  readonly tokens: number | null;
}

/**
 * The judge's time in requests, including the wait for a call: over the judgements of the ten minutes before the latest, and at least over
 * the newest 50.
 *
 * @param decisions newest first.
 * @returns null if fewer than 50 calls were scored or reached their time limit.
 */
export function trafficTimes(decisions: readonly Decision[], { sinceMs, isOutside }: TrafficOptions): JudgeTraffic | null {
  const calls: SeenCall[] = [];
  for (const decision of decisions) {
    const { finishedAtMs: atMs, stages, planId } = decision;
    const latestMs = calls[0]?.atMs ?? atMs;
    const isEnough = calls.length >= LEAST_JUDGEMENTS && latestMs - atMs > REACH_MS;
    if (isEnough || calls.length >= MOST_JUDGEMENTS) break;
    if (atMs < sinceMs || !isOutside(planId)) continue;
    for (const { judgeSeconds, judgedScore, unscored, inputTokens, outputTokens } of stages) {
      // A call that ran into its limit took at least that long: without it a judge that is often too late would look fast.
      if (judgeSeconds === null || (judgedScore === null && unscored !== "too-late")) continue;
      const read = inputTokens ?? decision.inputTokens ?? null;
      calls.push({ atMs, seconds: judgeSeconds, tokens: read === null || outputTokens === null ? null : read + outputTokens });
    }
  }
  const [latest] = calls;
  if (latest === undefined || calls.length < LEAST_JUDGEMENTS) return null;
  const times = fitJudgeTimes(withTokens(calls));
  if (times === null) return null;
  const latestAt = new Date(latest.atMs).toISOString();
  return { times, latestAt, settled: { calls: times.calls, at: latestAt } };
}

/** Where the tokens of some are not known, the length of none counts. */
function withTokens(calls: readonly SeenCall[]): readonly TimedCall[] {
  const known = calls.every(({ tokens }) => tokens !== null);
  return calls.map(({ seconds, tokens }) => ({ seconds, tokens: known ? (tokens ?? 1) : 1 }));
}

/**
 * What plans go on with: the measurement before, with the new count and time, while the new one differs by less than 5 % in the mean and
 * 10 % in the p95; plans and tables that were made with it then stay as they are.
 */
export function settledTraffic(before: JudgeTraffic | null, now: JudgeTraffic): JudgeTraffic {
  if (before === null) return now;
  const near = (a: number, b: number, share: number): boolean => Math.abs(a / b - 1) < share;
  const { meanSeconds, p95Seconds } = before.times;
  const settled = near(now.times.meanSeconds, meanSeconds, 0.05) && near(now.times.p95Seconds, p95Seconds, 0.1);
  return settled ? { latestAt: now.latestAt, times: { ...before.times, calls: now.times.calls }, settled: before.settled } : now;
}
