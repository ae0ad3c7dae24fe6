import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { wassersteinOfQuantiles } from "@/solver/numeric/wasserstein";
import { agentKey } from "@/solver/workflow/learning/learntAgent";
import type { ObservedCall } from "@/solver/workflow/learning/observedCall";
import { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { ObservedProgram } from "./observedPrograms";

/** Splits into training programs and held-out programs. */
export const SPLITS = 10;

/** Held-out programs arrive evenly over this multiple of the longest. */
const APART = 50;

/** Seconds without any call between two training programs. */
const PAUSE_SECONDS = 1000;

/** The result of each order on the same pairs, 0..1. */
export interface OrderAccuracy {
  /** Kairos: by the agent's distance on the line. */
  readonly line: number;
  /** By the mean of the agent's remaining latencies, from the same learner. */
  readonly mean: number;
  /** By their median. */
  readonly median: number;
  /** Ayo: by calls yet to make, as learnt. */
  readonly depth: number;
  /** Parrot: by the arrival of a call. */
  readonly arrival: number;
  /** By the mean of the agent's true remaining latencies in exactly the ordered calls. */
  readonly trueMean: number;
  /** Upper bound of any order of agents: for any two agents the better order for their calls, whether or not these are consistent. */
  readonly bound: number;
}

interface HeldOutCall {
  readonly call: ObservedCall;
  readonly agentKey: string;
  readonly arrivedSeconds: number;
  readonly remainingSeconds: number;
}

/**
 * How often orders put the call first that has less of its program before it (Kairos, section 7.4): for each held-out call the share of
 * correctly ordered pairs with calls of other agents, a tie counting half, averaged over calls.
 */
export function orderAccuracy(programs: readonly ObservedProgram[], split: number): OrderAccuracy {
  const random = seededRandom(mixSeed(split, "order accuracy"));
  const order = shuffled(programs.length, random);
  const half = Math.floor(programs.length / 2);
  const part = (from: number, to: number): readonly ObservedProgram[] => Array.from(order.subarray(from, to), (at) => programs[at] ?? []);
  const [learntFrom, heldOut] = [part(0, half), part(half, programs.length)];
  const spanSeconds = APART * Math.max(...heldOut.map(lastEnd));
  const calls = heldOut.flatMap((program) => {
    const startSeconds = random.next() * spanSeconds;
    return program.map((call) => ({
      ...{ call, agentKey: agentKey(call.application, call.agent) },
      arrivedSeconds: startSeconds + call.arrivedSeconds,
      remainingSeconds: lastEnd(program) - call.dispatchedSeconds,
    }));
  });
  const keys = keysOf(taught(learntFrom));
  const truths = meansByAgent(calls);
  return {
    line: pairAccuracy(calls, ({ call }) => keys(call).line),
    mean: pairAccuracy(calls, ({ call }) => keys(call).mean),
    median: pairAccuracy(calls, ({ call }) => keys(call).median),
    depth: pairAccuracy(calls, ({ call }) => keys(call).depth),
    arrival: pairAccuracy(calls, ({ arrivedSeconds }) => arrivedSeconds),
    trueMean: pairAccuracy(calls, ({ agentKey }) => truths.get(agentKey) ?? 0),
    bound: boundOfAgents(calls),
  };
}

/** A learner that has seen programs one after another, to their ends. */
function taught(programs: readonly ObservedProgram[]): WorkflowLearner {
  const learner = new WorkflowLearner();
  let beginSeconds = 0;
  for (const program of programs) {
    const moments = program.flatMap((call) => [
      { atSeconds: call.arrivedSeconds, ends: false, call },
      { atSeconds: call.finishedSeconds, ends: true, call },
    ]);
    // At equal times ends come first: a call that follows an answer arrives when the answer is there.
    moments.sort((one, other) => one.atSeconds - other.atSeconds || Number(other.ends) - Number(one.ends));
    for (const { atSeconds, ends, call } of moments) {
      if (!ends) learner.start({ ...call, nowSeconds: beginSeconds + atSeconds });
      else learner.finish(shifted(call, beginSeconds));
    }
    beginSeconds += lastEnd(program);
    learner.end(program[0]?.programId ?? "", beginSeconds);
    beginSeconds += PAUSE_SECONDS;
  }
  learner.refreshLine();
  return learner;
}

const shifted = (call: ObservedCall, bySeconds: number): ObservedCall => ({
  ...call,
  arrivedSeconds: call.arrivedSeconds + bySeconds,
  dispatchedSeconds: call.dispatchedSeconds + bySeconds,
  finishedSeconds: call.finishedSeconds + bySeconds,
});

const lastEnd = (program: ObservedProgram): number => Math.max(...program.map(({ finishedSeconds }) => finishedSeconds));

/** A learner's forecast of a call before it is served. */
function keysOf(learner: WorkflowLearner): (call: ObservedCall) => Pick<OrderAccuracy, "line" | "mean" | "median" | "depth"> {
  const quantiles = new Map(learner.lineAgents().map(({ key, quantilesSeconds }) => [key, quantilesSeconds]));
  return ({ application, agent, model }) => {
    const key = agentKey(application, agent);
    const forecast = learner.forecast(key, model);
    const line = forecast?.distanceSeconds ?? 0;
    const own = quantiles.get(key);
    const [mean, median] = own === undefined ? [line, line] : [meanOfQuantiles(own), quantileOfSorted(own, 0.5)];
    return { line, mean, median, depth: forecast?.remainingCalls ?? 0 };
  };
}

const meanOfQuantiles = (quantilesSeconds: readonly number[]): number =>
  wassersteinOfQuantiles(
    quantilesSeconds,
    quantilesSeconds.map(() => 0),
  );

function meansByAgent(calls: readonly HeldOutCall[]): ReadonlyMap<string, number> {
  const sums = new Map<string, { seconds: number; calls: number }>();
  for (const { agentKey, remainingSeconds } of calls) {
    const sum = sums.get(agentKey) ?? { seconds: 0, calls: 0 };
    sums.set(agentKey, { seconds: sum.seconds + remainingSeconds, calls: sum.calls + 1 });
  }
  return new Map([...sums].map(([key, sum]) => [key, sum.seconds / sum.calls]));
}

function pairAccuracy(calls: readonly HeldOutCall[], keyOf: (call: HeldOutCall) => number): number {
  const agents = [...new Set(calls.map(({ agentKey }) => agentKey))];
  const agent = Int32Array.from(calls, ({ agentKey }) => agents.indexOf(agentKey));
  const truth = Float64Array.from(calls, ({ remainingSeconds }) => remainingSeconds);
  const guess = Float64Array.from(calls, keyOf);
  const shares = Array.from(calls.keys(), (one) => {
    let pairs = 0;
    let right = 0;
    for (let other = 0; other < calls.length; other += 1) {
      if (agent[one] === agent[other]) continue;
      pairs += 1;
      const agreement = ((truth[one] ?? 0) - (truth[other] ?? 0)) * ((guess[one] ?? 0) - (guess[other] ?? 0));
      right += agreement > 0 ? 1 : agreement < 0 ? 0 : 0.5;
    }
    return pairs === 0 ? Number.NaN : right / pairs;
  });
  return mean(shares.filter((share) => !Number.isNaN(share)));
}

/** Counts of right pairs of two agents, for the better order of the two: the same pairs and weights as in `pairAccuracy`. */
function boundOfAgents(calls: readonly HeldOutCall[]): number {
  const remaining = new Map<string, number[]>();
  for (const { agentKey, remainingSeconds } of calls) remaining.set(agentKey, [...(remaining.get(agentKey) ?? []), remainingSeconds]);
  const agents = [...remaining.values()];
  const weightOf = (own: readonly number[]): number => 1 / (calls.length - own.length);
  let sum = 0;
  for (const [at, one] of agents.entries()) {
    for (const other of agents.slice(0, at)) {
      let shorter = 0;
      for (const a of one) for (const b of other) shorter += a < b ? 1 : a > b ? 0 : 0.5;
      sum += Math.max(shorter, one.length * other.length - shorter) * (weightOf(one) + weightOf(other));
    }
  }
  return sum / calls.length;
}
