import type { Objective } from "./plan";

/** The figures of a plan under the current traffic. */
export interface PlanNow {
  /** Latency by the plan's objective; Infinity where it does not sustain the load. */
  readonly latencySeconds: number;
  /** The quality that is compared with the floor, 0..100. */
  readonly quality: number;
  readonly costUsdPerHour: number;
}

/** A stage of the running plan whose replicas a change restarts one after another. */
export interface ChangedStage {
  readonly replicas: number;
  readonly restarted: number;
  /** Load of the stage and the load at which all its replicas together saturate. */
  readonly requestsPerSecond: number;
  readonly saturationRequestsPerSecond: number;
}

export interface ChangeQuestion {
  readonly running: PlanNow;
  readonly proposed: PlanNow;
  readonly stages: readonly ChangedStage[];
  /** Downtime of one replica; the source measured 2 to 20 s. Loading tens of gigabytes of weights takes minutes. */
  readonly restartSeconds: number;
  /** All requests, of which a stage sees its share. */
  readonly requestsPerSecond: number;
  /** Expected duration of the current traffic. */
  readonly horizonSeconds: number;
  readonly kind: Objective["kind"];
  /** null: not requested. */
  readonly qualityFloor: number | null;
  readonly latencyBudgetSeconds: number | null;
}

/** Advice on a change of plan. It applies nothing: a person must approve it. */
export interface ChangeAdvice {
  readonly worthwhile: boolean;
  /** One sentence for the operator. */
  readonly reason: string;
  /**
   * Running minus proposed, proposed minus running for quality: positive is better. Infinite where the running plan does not sustain the
   * load.
   */
  readonly gain: { readonly latencySeconds: number; readonly quality: number; readonly costUsdPerHour: number };
  /** Time until the last replica is back and the requests that waited for it are served. */
  readonly changeSeconds: number;
  /** Waiting caused by the restarts, over all requests; Infinity where a backlog never drains. */
  readonly waitingRequestSeconds: number;
}

/** Gains below this share of the running plan's latency or cost, or below this many points, are within the prediction error. */
const LEAST_GAIN = { share: 0.05, points: 1 } as const;

/**
 * Whether to propose a new plan after drift. A plan that no longer sustains the load, or misses its floor or budget, should be replaced by
 * one that does, provided the traffic outlasts the change. Otherwise the gain averaged over the horizon must exceed both
 * the cost of the change and the prediction error: until the change is complete the running plan's figures apply, and the
 * restarts add waiting, by a fluid model of the queue at each stage that lacks a replica.
 */
export function adviseChange(question: ChangeQuestion): ChangeAdvice {
  const { running, proposed, horizonSeconds, requestsPerSecond } = question;
  const restarts = question.stages.map((stage) => restartsOf(stage, question.restartSeconds));
  const changeSeconds = restarts.reduce((sum, { seconds }) => sum + seconds, 0);
  const waitingRequestSeconds = restarts.reduce((sum, { waiting }) => sum + waiting, 0);
  const gain = {
    latencySeconds: running.latencySeconds === proposed.latencySeconds ? 0 : running.latencySeconds - proposed.latencySeconds,
    quality: proposed.quality - running.quality,
    costUsdPerHour: running.costUsdPerHour - proposed.costUsdPerHour,
  };
  const advice = (worthwhile: boolean, reason: string): ChangeAdvice => ({
    worthwhile,
    reason,
    gain,
    changeSeconds,
    waitingRequestSeconds,
  });

  const broken = brokenPromise(running, question);
  const still = brokenPromise(proposed, question);
  if (still !== null) return advice(false, `The new plan would not do either: ${still}.`);
  if (changeSeconds >= horizonSeconds)
    return advice(
      false,
      `The change takes ${whole(changeSeconds)} s, longer than the traffic is expected to last (${whole(horizonSeconds)} s).`,
    );
  if (broken !== null) return advice(true, `The running plan no longer keeps its promise: ${broken}.`);

  const after = 1 - changeSeconds / horizonSeconds;
  const addedSeconds = waitingRequestSeconds / (requestsPerSecond * horizonSeconds);
  if (question.kind === "quality-under-latency") {
    const points = gain.quality * after;
    const words = `${points.toFixed(1)} points of quality over the horizon, the change included`;
    return points >= LEAST_GAIN.points
      ? advice(true, `The new plan gains ${words}.`)
      : advice(false, `The new plan gains ${words}: less than ${LEAST_GAIN.points}, which predictions may err by.`);
  }
  if (question.kind === "cost-under-both") {
    const usd = gain.costUsdPerHour * after;
    const words = `$${usd.toFixed(2)} an hour over the horizon, the change included`;
    return usd > 0 && usd >= LEAST_GAIN.share * running.costUsdPerHour
      ? advice(true, `The new plan saves ${words}.`)
      : advice(false, `The new plan saves ${words}: less than ${(100 * LEAST_GAIN.share).toFixed(0)} % of what the running plan costs.`);
  }
  const seconds = gain.latencySeconds * after - addedSeconds;
  const words = `${gain.latencySeconds.toFixed(2)} s, of which the change costs ${(gain.latencySeconds - seconds).toFixed(2)} s per request over the horizon`;
  return seconds >= LEAST_GAIN.share * running.latencySeconds
    ? advice(true, `The new plan gains ${words}.`)
    : advice(
        false,
        `The new plan gains ${words}: too little against the ${(100 * LEAST_GAIN.share).toFixed(0)} % that predictions may err by.`,
      );
}

/** The demands that a plan misses, in words that follow a colon; null when it keeps all. */
function brokenPromise(plan: PlanNow, { qualityFloor, latencyBudgetSeconds }: ChangeQuestion): string | null {
  if (!(plan.latencySeconds < Number.POSITIVE_INFINITY)) return "it is overloaded";
  if (qualityFloor !== null && plan.quality < qualityFloor)
    return `quality ${plan.quality.toFixed(1)} is under the floor of ${qualityFloor}`;
  if (latencyBudgetSeconds !== null && plan.latencySeconds > latencyBudgetSeconds)
    return `${plan.latencySeconds.toFixed(2)} s is over the budget of ${latencyBudgetSeconds} s`;
  return null;
}

/**
 * Time in seconds and waiting in request-seconds while a stage's replicas restart one at a time. During one restart, load above the
 * others' saturation accumulates, and drains at the spare rate once the replica is back; the next restart waits for that: a
 * rising and a falling triangle. A stage that sustains the load with one replica less adds no waiting. One that is already saturated
 * never drains: no restart waits for it, and its waiting is infinite.
 */
function restartsOf(
  { replicas, restarted, requestsPerSecond, saturationRequestsPerSecond }: ChangedStage,
  restartSeconds: number,
): { readonly seconds: number; readonly waiting: number } {
  const excess = requestsPerSecond - (saturationRequestsPerSecond * (replicas - 1)) / replicas;
  if (restarted === 0 || excess <= 0) return { seconds: restarted * restartSeconds, waiting: 0 };
  const spare = saturationRequestsPerSecond - requestsPerSecond;
  if (spare <= 0) return { seconds: restarted * restartSeconds, waiting: Number.POSITIVE_INFINITY };
  const backlog = excess * restartSeconds;
  const seconds = restartSeconds + backlog / spare;
  return { seconds: restarted * seconds, waiting: (restarted * backlog * seconds) / 2 };
}

const whole = (seconds: number): string => seconds.toFixed(0);
