import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted } from "@/solver/plan/policySchema";
import { type MeasuredFigure, meanInterval } from "@/solver/workload/driftIntervals";

/** The gateway's records of the plan in force in the measuring window of Live, or since a given time. */
export interface PromiseWindow {
  /** Oldest first; only the newest if there are very many. */
  readonly answered: readonly Decision[];
  /** Including failed and shed ones, with the same limit. */
  readonly seen: readonly Decision[];
  /** Total numbers of both, and of the failed ones. */
  readonly counts: { readonly answered: number; readonly seen: number; readonly failed: number };
  /** Engine seconds since the first of them arrived, or since the window began. */
  readonly seconds: number;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  /** Arrivals per engine second with their 99 % interval; null while the window is too short. */
  readonly requestsPerSecond: MeasuredFigure | null;
}

/** A client that disconnected, which is no failure. */
const CLIENT_GONE = 499;

/** Whether a request was rejected or not answered for a reason that is not its client's. */
export const isFailed = ({ status }: Pick<Decision, "status">): boolean => status >= 400 && status !== CLIENT_GONE;

/** Parts of the window in which arrivals are counted: enough to estimate their variation. */
const SLICES = 20;

/** The window is no longer than this; figures of slower plans would never settle. */
const LONGEST_SECONDS = 300;

/** A shorter window, in p95s, contains mostly fast answers. */
const P95S_TO_SETTLE = 2;

/**
 * Most requests whose figures are used: they determine a p95 to a thousandth or two of all requests, and take some tens of milliseconds.
 */
const MOST = 5000;

/**
 * @param decisions newest first, of any plan and time.
 * @param sinceMs its start, in place of Live's window, which is too short for little traffic.
 */
export function promiseWindow(plan: Plan, decisions: readonly Decision[], frame: LiveFrame, sinceMs?: number): PromiseWindow {
  const { atMs, timeScale, measured } = frame;
  const beganMs = sinceMs ?? atMs - (measured.windowSeconds * 1000) / timeScale;
  const all = decisions
    .filter(
      ({ planId, policyHash, finishedAtMs, canary }) =>
        planId === plan.id && policyHash === plan.policyHash && finishedAtMs >= beganMs && canary !== true,
    )
    .reverse();
  // Time before the first request says nothing about the traffic, and does not count.
  const firstMs = all.reduce(
    (first, { finishedAtMs, endToEndSeconds }) => Math.min(first, finishedAtMs - (endToEndSeconds * 1000) / timeScale),
    atMs,
  );
  const fromMs = Math.max(beganMs, firstMs);
  const seconds = ((atMs - fromMs) / 1000) * timeScale;
  const answered = all.filter(({ status }) => status < 400);
  return {
    answered: answered.slice(-MOST),
    seen: all.slice(-MOST),
    counts: { answered: answered.length, seen: all.length, failed: all.filter(isFailed).length },
    ...{ seconds, timeScale },
    requestsPerSecond: rateOf(all, { fromMs, timeScale, seconds }),
  };
}

/**
 * By the times of arrivals, not of ends: an overloaded plan finishes fewer requests than arrive. The latest arrivals are still in flight
 * without a record, so the end of the window is left out, for the time that all but the slowest fiftieth of requests took.
 */
function rateOf(
  all: readonly Decision[],
  { fromMs, timeScale, seconds }: { readonly fromMs: number; readonly timeScale: number; readonly seconds: number },
): MeasuredFigure | null {
  const took = new Float64Array(all.map(({ endToEndSeconds }) => endToEndSeconds)).sort();
  const slow = took[Math.floor(0.98 * took.length)] ?? 0;
  const looked = seconds - slow;
  // Otherwise most requests of the window are still in flight: the finished ones say little about the number of arrivals.
  if (all.length === 0 || looked < seconds / 2) return null;
  const counts = new Float64Array(SLICES);
  for (const { finishedAtMs, endToEndSeconds } of all) {
    const at = ((finishedAtMs - fromMs) / 1000) * timeScale - endToEndSeconds;
    const slice = Math.floor((at / looked) * SLICES);
    if (slice >= 0 && slice < SLICES) counts[slice] = (counts[slice] ?? 0) + 1;
  }
  const each = meanInterval(counts);
  const perSlice = SLICES / looked;
  return each === null
    ? null
    : { value: each.value * perSlice, low: Math.max(0, each.low * perSlice), high: each.high * perSlice, count: all.length };
}

/** Why the window is not sufficient yet, in words; null if it is. */
export function unsettled(
  { answered, seconds }: PromiseWindow,
  { predictions: { p95Seconds, mix } }: Pick<Plan, "predictions">,
): string | null {
  if (answered.length === 0) return "no request was answered yet";
  // Of a mix the slowest class has to fit in, or only its quick programs would be seen whole.
  const slowestSeconds = Math.max(p95Seconds, ...(mix?.classes ?? []).map((own) => own.p95Seconds));
  const needed = Math.min(P95S_TO_SETTLE * slowestSeconds, LONGEST_SECONDS);
  return seconds < needed ? `settling: ${seconds.toFixed(0)} of ${Math.ceil(needed)} s` : null;
}

/** Why a plan's promises can never be compared with measurements, in one sentence; null if they can. */
export const unpredictedPlan = ({ policy, predictions }: Pick<Plan, "policy" | "predictions">): string | null =>
  isPredicted(policy) || predictions.mix !== undefined
    ? null
    : "Models are chosen just in time: nothing predicts the result, and the plan's figures are those of the plan it was made from.";

/** Why a plan's promises cannot be compared with the present measurements, in one sentence; null if they can. */
export function notComparable(plan: Plan, frame: LiveFrame, applying: boolean): string | null {
  const { state, reason, routing } = frame.gateway;
  const unpredicted = unpredictedPlan(plan);
  if (unpredicted !== null) return unpredicted;
  if (applying) return "A plan is being applied: what is measured now belongs to neither plan.";
  if (state === "unreachable") return `The gateway does not answer: ${reason}`;
  if (routing === null) return "The gateway has not reported its plan yet.";
  const { controls } = routing;
  if (controls?.panic) return `In panic ${controls.panic.model} answers everything and the plan decides nothing.`;
  if (routing.planId !== plan.id) return "The gateway follows another plan than the one applied last.";
  if (routing.policyHash !== plan.policyHash) return "Knobs were changed by hand: the promises hold for the planned values.";
  if (controls?.canary?.state === "running") return "A canary shares the engines: the promises hold for this plan alone.";
  return null;
}
