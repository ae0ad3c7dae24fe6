import { simulatedRequests } from "@/solver/cascade/deploy/wholeSimulation";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { qualityLowerBound } from "@/solver/cascade/routing/qualityBound";
import { neighbours, reductions } from "./allocations";
import { chooseDispatch } from "./chooseDispatch";
import type { DispatchAllocation, DispatchPoint } from "./dispatchExploration";
import { dispatchPolicy } from "./dispatchPolicy";
import { type DispatchRun, dispatchTraffic, runDispatch } from "./dispatchRun";
import {
  boundOf,
  type ExploreDispatch,
  exploredTraffic,
  gather,
  pointOf,
  type SimulatedPoint,
  simulateTaus,
  TAUS,
} from "./exploreDispatch";

/** Rounds in which GPUs are moved between the models of the best allocation, or given up, as long as that brings a better one. */
const ROUNDS = { moves: 2, reductions: 6 } as const;

/** Maximum number of points simulated whole: once one keeps floor and budget, and while none does. */
const MAX_FINALISTS = { kept: 4, none: 16 } as const;

/** The best point, simulated whole like a plan. */
export interface VerifiedDispatch {
  readonly point: DispatchPoint;
  readonly allocation: DispatchAllocation;
  readonly run: DispatchRun;
  /** Objective latency of the whole simulation, and the one that the exploration had, in seconds. */
  readonly verifiedSeconds: number;
  readonly exploredSeconds: number;
  /** Critical value of the bound on quality; see `selectionCritical`. */
  readonly bound: number;
  /** Points that were simulated. */
  readonly simulated: number;
}

/**
 * The best slack dispatch for one setting of the knobs. Around the best point of the exploration GPUs are moved between models, or given up
 * where the cost is minimised, while that brings a better one; the best is then simulated whole, on the requests that cascades are, and the
 * search continues with the next best while that promises more.
 *
 * @param tau null: chosen too.
 * @returns null where nothing meets floor and budget.
 */
export function searchDispatch(
  input: ExploreDispatch,
  explored: readonly SimulatedPoint[],
  knobs: Knobs,
  tau: number | null,
): VerifiedDispatch | null {
  const { explorer } = input;
  const seen = new Set<DispatchAllocation>();
  const traffic = exploredTraffic(input);
  let points = explored;
  const byCost = knobs.kind === "cost-under-both";
  for (let round = 0; round < (byCost ? ROUNDS.reductions : ROUNDS.moves); round += 1) {
    const exploration = gather(input, points);
    const { chosen } = chooseDispatch(exploration, knobs, tau);
    const allocation = chosen === null ? undefined : exploration.allocations[chosen.allocation];
    if (chosen === null || allocation === undefined || seen.has(allocation) || explorer.input.fixedTopology !== undefined) break;
    seen.add(allocation);
    const others = byCost ? reductions(explorer, allocation) : neighbours(explorer, allocation);
    const taus = tausBeside(chosen.tau);
    points = [...points, ...others.flatMap((one) => simulateTaus(explorer, traffic, { allocation: one, taus }))];
  }
  return verified(input, points, knobs, tau);
}

/** A tau and the explored ones beside it, ascending. */
function tausBeside(tau: number): readonly number[] {
  const below = TAUS.findLast((one) => one < tau);
  const above = TAUS.find((one) => one > tau);
  return [below, tau, above].flatMap((one) => one ?? []);
}

function verified(input: ExploreDispatch, explored: readonly SimulatedPoint[], knobs: Knobs, tau: number | null): VerifiedDispatch | null {
  const { explorer, workload } = input;
  const exploration = gather(input, explored);
  const bound = boundOf(explorer, explored);
  const traffic = dispatchTraffic(explorer, workload, simulatedRequests(workload));
  const keyOf = ({ allocation, tau: at }: Pick<DispatchPoint, "allocation" | "tau">): string => `${allocation} ${at}`;
  const found = new Map<string, Pick<VerifiedDispatch, "point" | "run" | "verifiedSeconds" | "exploredSeconds">>();
  const failed = new Set<string>();
  const corrections = new Map<number, Correction>();
  for (let finalists = 0; ; finalists += 1) {
    const simulated = [...found.values()].map(({ point }) => point);
    const kept = chooseDispatch({ ...exploration, points: simulated }, knobs, null).chosen;
    const open =
      finalists < MAX_FINALISTS[kept === null ? "none" : "kept"] ? exploration.points.filter((point) => !found.has(keyOf(point))) : [];
    const estimated = open.map((point) => corrected(point, corrections.get(point.allocation) ?? none));
    const points = [...estimated, ...simulated]
      .filter((point) => !failed.has(keyOf(point)))
      .sort((a, b) => a.allocation - b.allocation || a.tau - b.tau);
    const { chosen } = chooseDispatch({ ...exploration, points }, knobs, open.length === 0 ? null : tau);
    const allocation = chosen === null ? undefined : exploration.allocations[chosen.allocation];
    if (chosen === null || allocation === undefined) return null;
    const known = found.get(keyOf(chosen));
    if (known !== undefined) return { ...known, allocation, bound, simulated: explored.length };
    const run = runDispatch(explorer, traffic, { policy: dispatchPolicy({ explorer, allocation }, chosen), allocation });
    if (run === null) {
      failed.add(keyOf(chosen));
      continue;
    }
    const { of: _, accepted, ...figures } = pointOf(explorer, { allocation, tau: chosen.tau, run });
    const qualityLow = qualityLowerBound({ accepted, quality: figures.quality }, bound);
    const point = { ...figures, allocation: chosen.allocation, qualityLow };
    const verifiedSeconds = knobs.latency === "end-to-end" ? point.latencySeconds : point.largestStageSeconds;
    const before = corrections.get(chosen.allocation) ?? none;
    found.set(keyOf(chosen), { run, point, verifiedSeconds, exploredSeconds: chosen.latencySeconds / before.factor });
    corrections.set(chosen.allocation, {
      factor: (before.factor * verifiedSeconds) / chosen.latencySeconds,
      points: before.points + point.qualityLow - chosen.qualityLow,
    });
  }
}

/** What the whole simulation of a point says of the other taus of its allocation: a factor on latencies, and points of quality. */
interface Correction {
  readonly factor: number;
  readonly points: number;
}

const none: Correction = { factor: 1, points: 0 };

const corrected = (point: DispatchPoint, { factor, points }: Correction): DispatchPoint => ({
  ...point,
  latencySeconds: factor * point.latencySeconds,
  largestStageSeconds: factor * point.largestStageSeconds,
  quality: point.quality + points,
  qualityLow: point.qualityLow + points,
});
