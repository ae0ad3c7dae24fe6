import { promisedQuality } from "@/solver/cascade/choose";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/exploration";

/** What a candidate is to the operator's constraints. Told apart by shape and fill, not by colour alone. */
export type FrontierClass = "frontier" | "dominated" | "infeasible";

export interface FrontierPoint {
  readonly routing: number;
  /** The quality the floor is held against: the lower bound, or the point value where no confidence is asked for. */
  readonly x: number;
  /** Objective latency, seconds. */
  readonly y: number;
  readonly class: FrontierClass;
  /** Whether it meets floor and budget; a frontier point that does not is drawn hollow. */
  readonly meets: boolean;
  /** Index of the model that answers alone; null for a cascade. */
  readonly standAloneModel: number | null;
}

/** A plan drawn by its own predictions, such as the running one. */
export interface Mark {
  readonly x: number;
  readonly y: number;
}

export interface FrontierPicture {
  /** By rising quality; a step line joins them. */
  readonly frontier: readonly FrontierPoint[];
  readonly standAlone: readonly FrontierPoint[];
  readonly dominated: readonly FrontierPoint[];
  readonly infeasible: readonly FrontierPoint[];
  readonly chosen: FrontierPoint | null;
  readonly running: Mark | null;
  readonly xDomain: readonly [number, number];
  readonly yDomain: readonly [number, number];
  readonly counts: {
    readonly evaluated: number;
    readonly feasible: number;
    /** Cascades whose load no allocation of these GPUs keeps up with: they have no latency to draw. */
    readonly overloaded: number;
    /** Points above the view: slower by far than anything worth choosing. */
    readonly above: number;
    readonly drawn: number;
  };
}

/** Symbols of one cloud. More than about this many cannot be told apart on a panel and cost frames while a knob turns. */
const MAX_CLOUD = 700;
/** Room above the slowest point worth seeing. */
const HEADROOM = 1.12;
/** Stand-alone models slower than this many times the slowest frontier point are left above the view: they would flatten the rest. */
const MAX_STRETCH = 4;

function meetsKnobs(candidate: Candidate, knobs: Knobs): boolean {
  if (!Number.isFinite(candidate.latencySeconds)) return false;
  if (knobs.qualityFloor !== null && promisedQuality(knobs)(candidate) < knobs.qualityFloor) return false;
  return knobs.latencyBudgetSeconds === null || candidate.latencySeconds <= knobs.latencyBudgetSeconds;
}

/** Every k-th point, so that at most `MAX_CLOUD` remain spread over all. */
function thin(points: readonly FrontierPoint[]): readonly FrontierPoint[] {
  const stride = Math.ceil(points.length / MAX_CLOUD);
  return stride <= 1 ? points : points.filter((_, index) => index % stride === 0);
}

function widen(low: number, high: number, by: number): readonly [number, number] {
  return [Math.max(0, low - by), Math.min(100, high + by)];
}

/** Decides everything about the frontier chart: classes, order, caps and axes. */
export function prepareFrontier(input: {
  readonly exploration: Exploration;
  readonly choice: Choice;
  readonly knobs: Knobs;
  readonly running: Mark | null;
}): FrontierPicture {
  const { exploration, choice, knobs } = input;
  const onFrontier = new Set(choice.frontier);
  const points: FrontierPoint[] = [];
  let feasible = 0;
  let overloaded = 0;
  for (const [index, candidate] of choice.candidates.entries()) {
    if (!Number.isFinite(candidate.latencySeconds)) {
      overloaded++;
      continue;
    }
    const stages = exploration.routings[candidate.routing]?.stages ?? [];
    const met = meetsKnobs(candidate, knobs);
    if (met) feasible++;
    points.push({
      routing: candidate.routing,
      x: promisedQuality(knobs)(candidate),
      y: candidate.latencySeconds,
      class: onFrontier.has(index) ? "frontier" : met ? "dominated" : "infeasible",
      meets: met,
      standAloneModel: stages.length === 1 ? (stages[0] ?? null) : null,
    });
  }

  const frontier = points.filter((point) => point.class === "frontier").sort((a, b) => a.x - b.x);
  const standAlone = points.filter((point) => point.standAloneModel !== null);
  const slowestFrontier = Math.max(0, ...frontier.map((point) => point.y));
  const worthSeeing = [
    slowestFrontier,
    input.running?.y ?? 0,
    ...standAlone.map((point) => point.y).filter((y) => slowestFrontier === 0 || y <= slowestFrontier * MAX_STRETCH),
  ];
  const top = (Math.max(...worthSeeing) || points.reduce((most, point) => Math.max(most, point.y), 0) || 1) * HEADROOM;
  const inView = points.filter((point) => point.y <= top);
  const cloud = inView.filter((point) => point.standAloneModel === null);
  const dominated = thin(cloud.filter((point) => point.class === "dominated"));
  const infeasible = thin(cloud.filter((point) => point.class === "infeasible"));

  const xs = [...inView.map((point) => point.x), ...(input.running === null ? [] : [input.running.x])];
  if (knobs.qualityFloor !== null) xs.push(knobs.qualityFloor);
  const chosen = choice.chosen;
  return {
    frontier,
    standAlone: standAlone.filter((point) => point.y <= top),
    dominated,
    infeasible,
    chosen: chosen === null ? null : (points.find((point) => point.routing === chosen.routing) ?? null),
    running: input.running,
    xDomain: xs.length === 0 ? [0, 100] : widen(Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs)), 1),
    yDomain: [0, top],
    counts: {
      evaluated: choice.candidates.length,
      feasible,
      overloaded,
      above: points.length - inView.length,
      drawn: frontier.length + dominated.length + infeasible.length,
    },
  };
}

/**
 * The frontier as corners of a step line: a floor between two points costs the latency of the next one, so the line rises
 * at a point and runs on at the next one's height. Nothing between computed points is invented.
 */
export function stepCorners(frontier: readonly Mark[]): readonly Mark[] {
  return frontier.flatMap((point, index) => {
    const next = frontier[index + 1];
    return next === undefined ? [point] : [point, { x: point.x, y: next.y }];
  });
}
