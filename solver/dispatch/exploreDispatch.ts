import { costUsdPerRequest } from "@/solver/cascade/choose/allocate";
import { settledStage } from "@/solver/cascade/deploy/wholeSimulation";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { type Pickable, qualityLowerBound, selectionCritical } from "@/solver/cascade/routing/qualityBound";
import { mean, quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { MOST_TAU } from "@/solver/plan/planSlack";
import type { Workload } from "@/solver/workload/workload";
import { dispatchAllocations } from "./allocations";
import type { DispatchAllocation, DispatchExploration, DispatchPoint } from "./dispatchExploration";
import { dispatchPolicy } from "./dispatchPolicy";
import { type DispatchRun, type DispatchTraffic, dispatchTraffic, runDispatch } from "./dispatchRun";

/** Taus that are simulated; between them figures are interpolated. */
export const TAUS: readonly number[] = [0, 0.25, 0.5, 1, 1.5, 2, 3, 5, MOST_TAU];

/** Requests and taus by which allocations are screened. */
const SCREENING = { requests: 600, taus: [0.25, 2] } as const;

/** Requests of a simulation of a kept allocation: so many seconds of traffic, within these bounds. Queues take a while to build up. */
const SIMULATED = { seconds: 20, least: 2500, most: 6000 } as const;

/** The traffic that kept allocations are simulated under. */
export function exploredTraffic({ explorer, workload }: Pick<ExploreDispatch, "explorer" | "workload">): DispatchTraffic {
  const wanted = Math.ceil(SIMULATED.seconds * explorer.input.requestsPerSecond);
  return dispatchTraffic(explorer, workload, Math.min(SIMULATED.most, Math.max(SIMULATED.least, wanted)));
}

/**
 * Parts of the GPUs that allocations divide, how finely, and the number of allocations kept of each: all, and fewer for plans that cost
 * less.
 */
const TOTALS = [
  { part: 1, kept: 6, fine: true },
  { part: 0.75, kept: 2, fine: false },
  { part: 0.5, kept: 2, fine: false },
] as const;

export interface ExploreDispatch {
  readonly explorer: Pick<Explorer, "input" | "tables">;
  readonly workload: Workload;
  /** GPUs that a plan may use. */
  readonly maxGpus: number;
  /** Whether the outcomes carry scores of a trained predictor of confidence. */
  readonly trained: boolean;
  /** Called after each simulation. */
  readonly progress: (done: number, of: number) => void;
}

/** A simulated point, before its bound on quality is known. */
export interface SimulatedPoint extends Omit<DispatchPoint, "allocation" | "qualityLow"> {
  readonly of: DispatchAllocation;
  /** Mean label per planning prompt. */
  readonly accepted: Float64Array;
}

/**
 * Simulates slack dispatch on divisions of the GPUs and over tau: the latency-quality frontier of the policy on this workload. All
 * divisions are screened by short runs at few taus; those that few others beat are simulated at every tau.
 */
export function exploreDispatch(input: ExploreDispatch): readonly SimulatedPoint[] {
  const { explorer, workload, maxGpus } = input;
  // A given topology has one allocation, whatever the number of GPUs.
  const parts = explorer.input.fixedTopology === undefined ? TOTALS : TOTALS.slice(0, 1);
  const totals = parts.map(({ part, ...own }) => ({ ...own, gpus: Math.round(part * maxGpus) }));
  const all = totals.map(({ gpus, kept, fine }) => ({ kept, allocations: dispatchAllocations(explorer, gpus, fine) }));
  const screened = all.reduce((sum, { allocations }) => sum + allocations.length, 0) * SCREENING.taus.length;
  const steps = screened + all.reduce((sum, { allocations, kept }) => sum + Math.min(kept, allocations.length), 0) * TAUS.length;
  let done = 0;
  const simulated = (traffic: DispatchTraffic, allocation: DispatchAllocation, taus: readonly number[]): readonly SimulatedPoint[] => {
    input.progress(done, steps);
    done += taus.length;
    return simulateTaus(explorer, traffic, { allocation, taus });
  };
  const screening = dispatchTraffic(explorer, workload, SCREENING.requests);
  const worth = all.flatMap(({ allocations, kept }) =>
    worthwhile(
      allocations.map((allocation) => ({ allocation, points: simulated(screening, allocation, SCREENING.taus) })),
      kept,
    ),
  );
  const traffic = exploredTraffic(input);
  return distinct(worth).flatMap((allocation) => simulated(traffic, allocation, TAUS));
}

/** Allocations without those of the same replicas as an earlier one: totals that differ may be divided into the same. */
function distinct(allocations: readonly DispatchAllocation[]): readonly DispatchAllocation[] {
  return [...new Map(allocations.map((one) => [JSON.stringify([one.models, one.replicas]), one])).values()];
}

/** The exploration of simulated points: with a lower bound of quality that holds for whichever of them is picked. */
export function gather(
  { explorer, maxGpus, trained }: Pick<ExploreDispatch, "explorer" | "maxGpus" | "trained">,
  points: readonly SimulatedPoint[],
): DispatchExploration {
  const { sample, requestsPerSecond, qualityConfidence } = explorer.input;
  const z = boundOf(explorer, points);
  const allocations = [...new Set(points.map(({ of }) => of))];
  return {
    models: sample.models,
    requestsPerSecond,
    maxGpus,
    confidence: trained ? "trained" : "stated",
    qualityConfidence,
    allocations,
    taus: [...new Set(points.map(({ tau }) => tau))].sort((a, b) => a - b),
    points: points.map(({ of, accepted, ...point }) => ({
      ...point,
      allocation: allocations.indexOf(of),
      qualityLow: qualityLowerBound({ accepted, quality: point.quality }, z),
    })),
  };
}

/** The critical value of the bound on quality over a family of points; see `selectionCritical`. */
export function boundOf({ input }: Pick<Explorer, "input">, points: readonly SimulatedPoint[]): number {
  if (points.length === 0) return 0;
  const family = points.map(({ accepted, quality, latencySeconds }): Pickable => ({ accepted, quality, cost: latencySeconds }));
  return selectionCritical(family, { confidence: input.qualityConfidence, seed: mixSeed(input.seed, "dispatch bound") });
}

/**
 * One allocation at several taus, those at which it serves all requests. Once every request goes to the model of the highest confidence, a
 * larger tau changes nothing: its figures are the same and are not simulated again.
 *
 * @param taus ascending.
 */
export function simulateTaus(
  explorer: Pick<Explorer, "input" | "tables">,
  traffic: DispatchTraffic,
  { allocation, taus }: { readonly allocation: DispatchAllocation; readonly taus: readonly number[] },
): readonly SimulatedPoint[] {
  let widest: SimulatedPoint | null = null;
  return taus.flatMap((tau) => {
    if (widest !== null) return { ...widest, tau };
    const run = runDispatch(explorer, traffic, { policy: dispatchPolicy({ explorer, allocation }, { tau }), allocation });
    if (run === null) return [];
    const point = pointOf(explorer, { allocation, tau, run });
    if (run.allMostConfident) widest = point;
    return point;
  });
}

export function pointOf(
  explorer: Pick<Explorer, "input">,
  { allocation, tau, run }: { readonly allocation: DispatchAllocation; readonly tau: number; readonly run: DispatchRun },
): SimulatedPoint {
  const { requestsPerSecond, usdPerGpuHour, quantile: q } = explorer.input;
  const gpusTotal = allocation.gpus.reduce((sum, own) => sum + own, 0);
  const accepted = run.accepted.filter((label) => !Number.isNaN(label));
  return {
    of: allocation,
    tau,
    accepted: run.accepted.map((label) => (Number.isNaN(label) ? mean(accepted) : label)),
    quality: mean(accepted),
    latencySeconds: quantile(run.outcome.endToEndSeconds.subarray(run.warmUp), q),
    largestStageSeconds: Math.max(
      ...run.outcome.stages.flatMap((stage) => (stage.requests === 0 ? [] : settledStage(stage, run.warmUp, q).percentile.seconds)),
    ),
    gpusTotal,
    costUsdPerRequest: costUsdPerRequest({ gpus: gpusTotal, usdPerGpuHour, requestsPerSecond, judgements: 0, judge: { usdPerCall: 0 } }),
    share: run.share,
  };
}

interface Screened {
  readonly allocation: DispatchAllocation;
  readonly points: readonly SimulatedPoint[];
}

/**
 * The allocations that are the fastest at qualities evenly spread over those that were reached, then those whose best points the fewest others
 * beat in both latency and quality: small models on any GPUs are all unbeaten at the lowest quality, and would leave no place for others.
 */
function worthwhile(screened: readonly Screened[], kept: number): readonly DispatchAllocation[] {
  const points = screened.flatMap((one) => one.points);
  const [lowest, highest] = [Math.min(...points.map(({ quality }) => quality)), Math.max(...points.map(({ quality }) => quality))];
  const fastest = Array.from({ length: kept }, (_, at) => {
    const least = lowest + (at / Math.max(1, kept - 1)) * (highest - lowest);
    const reaching = points.filter(({ quality }) => quality >= least);
    return reaching.reduce<SimulatedPoint | null>(
      (best, own) => (best === null || own.latencySeconds < best.latencySeconds ? own : best),
      null,
    );
  });
  const beaten = (point: SimulatedPoint): number =>
    points.filter((other) => other.latencySeconds < point.latencySeconds && other.quality > point.quality).length;
  const ranked = screened
    .flatMap(({ allocation, points: own }) => {
      const ranks = own.map(beaten);
      return own.length === 0 ? [] : [{ allocation, least: Math.min(...ranks), sum: ranks.reduce((sum, one) => sum + one, 0) }];
    })
    .sort((a, b) => a.least - b.least || a.sum - b.sum);
  const first = fastest.flatMap((point) => (point === null ? [] : [point.of]));
  return [...new Set([...first, ...ranked.map(({ allocation }) => allocation)])].slice(0, kept);
}
