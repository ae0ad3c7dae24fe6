import { busiestLoad, highestRate, measure, routedBy, type Traffic } from "@/solver/baselines/measure";
import { cascadeText, gpusOf, judgementsOf, type ReplicaChoice, type System } from "@/solver/baselines/system";
import { costUsdPerRequest } from "@/solver/cascade/choose/allocate";
import type { GatedSystem } from "./gatedContext";
import type { RatePlanner } from "./ratePlanners";

/** Requests that no plan has seen, the deadline that 95 % of them must keep, and the price of a GPU that a plan uses. */
export interface RateMeasuring {
  readonly traffic: Traffic;
  readonly measuring: Int32Array;
  readonly choice: ReplicaChoice;
  readonly deadlineSeconds: number;
  readonly usdPerGpuHour: number;
}

/** A system at one rate. */
export interface AtRate {
  readonly requestsPerSecond: number;
  readonly cascade: string;
  /** Whose scores the plan is gated by. */
  readonly gate: string;
  /** Scores of trained heads below which requests start at a later stage, one for all stages or one for each but the last; null: all start at the first. */
  readonly startBelow: readonly number[] | null;
  /** In use, those of the gate's engines among them. */
  readonly gpus: number;
  readonly gateGpus: number;
  readonly quality: number;
  /** null: it does not sustain the rate. */
  readonly p95Seconds: number | null;
  /** Of the GPUs in use, and of judgements that are paid by the call. */
  readonly costUsdPerRequest: number;
}

/** Factor between the rates of the first bracket. */
const STEP = 1.3;

/** Precision of a highest rate, as a factor. */
const TOLERANCE = 1.07;

/** Most steps of the bracket on either side. */
const MOST_STEPS = 16;

/** A system on the measuring requests at a rate. */
export function measuredAt(planned: GatedSystem, measuring: RateMeasuring, requestsPerSecond: number): AtRate {
  const { system, outcomes, judgeSeconds, usdPerJudgement, gateGpus, gateRate, kind } = planned;
  const { traffic, choice, usdPerGpuHour } = measuring;
  const at = { ...choice, requestsPerSecond };
  const routed = routedBy(system, outcomes, measuring.measuring);
  const gpus = gpusOf(system) + gateGpus;
  const sustained = requestsPerSecond < gateRate && busiestLoad(system, { outcomes, rows: measuring.measuring }, at) < 1;
  const judge = { secondsPerCall: judgeSeconds, usdPerCall: usdPerJudgement };
  return {
    requestsPerSecond,
    cascade: cascadeText(system),
    gate: kind,
    startBelow: startBelowOf(system),
    ...{ gpus, gateGpus },
    quality: routed.quality,
    p95Seconds: sustained ? measure(system, { ...traffic, outcomes, judgeSeconds }, at).percentileSeconds : null,
    costUsdPerRequest: costUsdPerRequest({ gpus, usdPerGpuHour, requestsPerSecond, judgements: judgementsOf(system, routed), judge }),
  };
}

function startBelowOf({ routing }: System): readonly number[] | null {
  const below = routing.kind === "cascade" ? routing.directStart?.below : undefined;
  return below === undefined ? null : [below].flat();
}

/**
 * The highest rate at which 95 % of requests keep the deadline when the system is planned anew for every rate: steps of a factor of 1.3 from
 * a first rate until one keeps it and the next does not, then bisection to 7 %.
 *
 * @param from a first rate, requests a second, above 0.
 */
export function highestReplanned(planner: RatePlanner, measuring: RateMeasuring, from: number): AtRate | null {
  const tried = (rate: number): AtRate | null => {
    const planned = planner.plan(rate);
    const found = planned === null ? null : measuredAt(planned, measuring, rate);
    return found !== null && (found.p95Seconds ?? Number.POSITIVE_INFINITY) <= measuring.deadlineSeconds ? found : null;
  };
  let [low, high] = [tried(from), from * STEP];
  if (low === null) {
    for (let step = 0; low === null && step < MOST_STEPS; step += 1) {
      high = from / STEP ** step;
      low = tried(high / STEP);
    }
    if (low === null) return null;
  } else {
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const further = tried(high);
      if (further === null) break;
      low = further;
      high *= STEP;
    }
  }
  while (high > low.requestsPerSecond * TOLERANCE) {
    const middle = Math.sqrt(low.requestsPerSecond * high);
    const found = tried(middle);
    if (found === null) high = middle;
    else low = found;
  }
  return low;
}

/** The highest rate of one plan, kept while the rate rises, at most what saturates its gate's engines; 0 where none was found. */
export function highestKept(planned: GatedSystem, measuring: RateMeasuring, from: number): number {
  const { system, outcomes, judgeSeconds, gateRate } = planned;
  const { traffic, choice, deadlineSeconds } = measuring;
  const load = busiestLoad(system, { outcomes, rows: measuring.measuring }, { ...choice, requestsPerSecond: from });
  const own = { ...traffic, outcomes, judgeSeconds };
  // A run of finite length may end before the queue of an overloaded stage has grown past the deadline.
  const keeps = (requestsPerSecond: number): boolean =>
    requestsPerSecond < gateRate &&
    (load * requestsPerSecond) / from < 1 &&
    measure(system, own, { ...choice, requestsPerSecond }).percentileSeconds <= deadlineSeconds;
  return highestRate(keeps, from, TOLERANCE);
}
