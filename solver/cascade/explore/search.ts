import { type StartBelow, shortestStart, startScores } from "@/solver/plan/directStart";
import { type PlanningSample, proportionalThresholds } from "../routing/routing";
import { product, startsAtLevel, usefulThresholds } from "../routing/routingGrid";
import { latencyUnderQuality, type QualityRange, qualityUnderLatency } from "./penalty";

/** A routing the search has looked at. */
export interface Evaluated {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  /** Requests start at the first stage whose router score is at least the stage's; 0: all at the first. */
  readonly startBelow: StartBelow;
  /** The quality that the search compares with floors, 0..100. */
  readonly quality: number;
  /** The same quality with the latency by each measure that an operator may request; Infinity where the load is not sustained. */
  readonly measured: readonly { readonly latencySeconds: number; readonly quality: number }[];
  /** True when all GPUs together do not sustain its load; then no routing with more load does. */
  readonly overloaded: boolean;
}

export interface SearchInput<Point extends Evaluated> {
  readonly sample: PlanningSample;
  /** The cascades to search: indices of models, smallest first. */
  readonly cascades: readonly (readonly number[])[];
  /** Evaluates a routing. Called at most once for each. */
  evaluate(stages: readonly number[], thresholds: readonly number[], startBelow: StartBelow): Point;
  /** Maximum number of points whose requests all start at the first stage; `run` leaves room for a `focus`. */
  readonly limit: number;
  /** Whether requests may also start at later stages, which takes more points than `limit`. */
  readonly directStart: boolean;
  /** Called between evaluations; true ends the search with the results so far. */
  readonly cancelled: () => boolean;
  /** Called after each point that the search evaluates, with the number of points. */
  readonly visited?: (points: number) => void;
}

export interface Search<Point extends Evaluated> {
  /** Every point evaluated so far, in order. Nothing is discarded: the frontier is made of them. */
  readonly points: readonly Point[];
  /** Coarse to fine over all cascades of the ladder, for every floor an operator may set. */
  run(): void;
  /** Refines around the best routings for one floor or budget. */
  focus(asked: { readonly floor: number | null; readonly budgetSeconds: number | null }): void;
  /** Evaluates one routing by hand, unless known; returns its position among the points. */
  add(stages: readonly number[], thresholds: readonly number[], startBelow?: StartBelow): number;
  /** Forgets all points except the first so many. */
  keepFirst(count: number): void;
}

/** Floors, evenly over the reachable quality, around whose best routings the search refines. */
const FLOORS = 12;

/** Approximate number of points of the coarse grid of one cascade. */
const COARSE_POINTS = 110;

/** Quality penalty for a latency that exceeds the budget by the whole reachable range: large enough that no such point wins. */
const BUDGET_WEIGHT = 1e4;

/** Maximum number of points that one focus adds. */
export const FOCUS_POINTS = 150;

/** Maximum number of points with a later start that `run` adds, and of those whose stages have a score of their own after them. */
const START_POINTS = 500;
const STAGE_START_POINTS = 150;

/** Shares of the prompts that the router scores first tried leave out of a stage, and the initial step of their neighbours. */
const START_LEVELS: readonly number[] = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9];
const START_STEP = 8;

/** The penalty's weight is scaled down from the source's 100 s to these latencies: their spread times this. */
const SPREADS_PER_RANGE = 10;

/**
 * Search over cascades and integer thresholds (the outer problem of Cascadia, section 3.3, for all floors at once). The source
 * starts with proportional routing and alternates between deployment and routing until J is stable for one floor. Here each
 * evaluation contains the exact deployment, so the alternation reduces to a search over thresholds: a coarse grid and the
 * proportional start, then for each cascade and each floor of a ladder the neighbours of the routing with least J, at halving
 * steps, until no J falls. A higher threshold only escalates more requests: where a routing does not sustain the load, no routing of
 * the same cascade with thresholds at least as high is evaluated.
 *
 * Later starts, where requested, are searched around the best routings without them, and around routers alone, whose answers are accepted
 * unjudged (thresholds of 0): first at one router score for all stages, then at one for each stage (cascade routing in the form that
 * thresholds express: De Koninck et al., A Unified Approach to Routing and Cascading for LLMs, section 4).
 */
export function createSearch<Point extends Evaluated>(input: SearchInput<Point>): Search<Point> {
  const { sample, cascades, cancelled } = input;
  let limit = input.limit - FOCUS_POINTS;
  const points: Point[] = [];
  const positions = new Map<string, number>();
  const overloaded = new Map<string, (readonly number[])[]>();
  const steps = sample.judged.map(usefulThresholds);

  /**
   * Evaluates the routing at positions `at` of the stages' useful thresholds, unless known, out of range or overloaded. The values after
   * those of the thresholds are the router scores to start at: one for all stages, or one for each. With a later start, the position -1 is a
   * threshold of 0.
   */
  function visit(stages: readonly number[], at: readonly number[]): void {
    if (points.length >= limit || cancelled()) return;
    const starts = at.slice(stages.length - 1);
    if (starts.some((score) => score < 0 || score > 100) || starts[0] === 0) return;
    const startBelow = shortestStart(starts);
    const thresholds: number[] = [];
    for (const [stage, position] of at.slice(0, stages.length - 1).entries()) {
      const threshold = position === -1 && startBelow !== 0 ? 0 : steps[stages[stage] ?? 0]?.[position];
      if (threshold === undefined) return;
      thresholds.push(threshold);
    }
    const cascade = cascadeKey({ stages, startBelow });
    const limits = overloaded.get(cascade) ?? [];
    if (limits.some((lower) => lower.every((threshold, stage) => (thresholds[stage] ?? 0) >= threshold))) return;
    const point = points[add(stages, thresholds, startBelow)];
    if (point?.overloaded) overloaded.set(cascade, [...limits, thresholds]);
    input.visited?.(points.length);
  }

  function add(stages: readonly number[], thresholds: readonly number[], asked: StartBelow = 0): number {
    const startBelow = shortestStart(startScores(asked, stages.length));
    const key = `${cascadeKey({ stages, startBelow })}:${thresholds.join("-")}`;
    const known = positions.get(key);
    if (known !== undefined) return known;
    positions.set(key, points.length);
    points.push(input.evaluate(stages, thresholds, startBelow));
    return points.length - 1;
  }

  /** @param starts how many router scores: one for all stages where they are equal, or one for each. */
  function positionsOf({ stages, thresholds, startBelow }: Point, starts: "one" | "each" = "one"): number[] {
    const at = thresholds.map((threshold, stage) => steps[stages[stage] ?? 0]?.indexOf(threshold) ?? -1);
    if (startBelow === 0) return at;
    return [...at, ...(typeof startBelow === "number" && starts === "one" ? [startBelow] : startScores(startBelow, stages.length))];
  }

  function coarseStep(stages: readonly number[]): number {
    const perStage = COARSE_POINTS ** (1 / Math.max(2, stages.length - 1));
    const longest = Math.max(1, ...stages.slice(0, -1).map((model) => steps[model]?.length ?? 0));
    return Math.max(1, Math.ceil(longest / perStage));
  }

  /** Evaluates neighbours of the best points at halving steps; repeats each step until the best no longer change. */
  function refine(bestPoints: () => readonly Point[], firstStep: number, starts: "one" | "each" = "one"): void {
    for (let step = firstStep; step >= 1; step = Math.floor(step / 2)) {
      for (let stable = false; !stable && points.length < limit && !cancelled(); ) {
        const before = bestPoints();
        for (const point of before) {
          const at = positionsOf(point, starts);
          // A score for each stage doubles the dimensions: then one of them changes at a time.
          const moves = at.length > point.stages.length ? singleShifts(at.length) : shifts(at.length);
          for (const shift of moves) {
            visit(
              point.stages,
              at.map((position, dimension) => position + step * (shift[dimension] ?? 0)),
            );
          }
        }
        const known = new Set(before);
        stable = bestPoints().every((point) => known.has(point));
      }
    }
  }

  const measures = (): number => points[0]?.measured.length ?? 0;
  const idle = { latencySeconds: Number.POSITIVE_INFINITY, quality: 0 };

  /** The points of each cascade whose requests all start at the first stage. */
  const fromFirst = (): readonly (readonly Point[])[] =>
    cascades.map((stages) => points.filter((point) => point.startBelow === 0 && point.stages.join() === stages.join()));

  /** All points with a later start as one group: only the best of all cascades is worth the points. */
  const fromLater = (): readonly (readonly Point[])[] => [points.filter((point) => point.startBelow !== 0)];

  /** For each floor the best of each group by each measure. */
  function bestUnderFloors(floors: readonly number[], groups: readonly (readonly Point[])[]): readonly Point[] {
    const range = qualityRange(points, sample.models.length);
    const found = new Set<Point>();
    for (let measure = 0; measure < measures(); measure += 1) {
      const weight = SPREADS_PER_RANGE * latencySpread(points, measure);
      for (const floor of floors) {
        const asked = { floor, range, weight };
        for (const own of groups) {
          const best = least(own, (point) => latencyUnderQuality(point.measured[measure] ?? idle, asked));
          if (best !== null) found.add(best);
        }
      }
    }
    return [...found];
  }

  function bestUnderBudget(budgetSeconds: number): readonly Point[] {
    const latencies = points.map((point) => point.measured[0]?.latencySeconds ?? 0).filter((seconds) => seconds < Number.POSITIVE_INFINITY);
    const range = { best: Math.min(...latencies), worst: Math.max(...latencies) };
    const best = least(points, (point) => qualityUnderLatency(point.measured[0] ?? idle, { budgetSeconds, range, weight: BUDGET_WEIGHT }));
    return best === null ? [] : [best];
  }

  function floors(): readonly number[] {
    const qualities = points.map((point) => point.quality);
    const low = Math.min(...qualities);
    const high = Math.max(...qualities);
    return Array.from({ length: FLOORS }, (_, index) => low + ((high - low) * index) / (FLOORS - 1));
  }

  function keepFirst(count: number): void {
    points.length = Math.min(points.length, count);
    for (const [key, position] of positions) if (position >= count) positions.delete(key);
    overloaded.clear();
    for (const point of points) {
      const cascade = cascadeKey(point);
      if (point.overloaded) overloaded.set(cascade, [...(overloaded.get(cascade) ?? []), point.thresholds]);
    }
  }

  /** Later starts at the best routings of every floor, then around the best of those. */
  function searchStarts(): void {
    limit = points.length + START_POINTS;
    for (const point of bestUnderFloors(floors(), [points.filter(({ stages }) => stages.length > 1)]))
      for (const level of START_LEVELS) visit(point.stages, [...positionsOf(point), ...startsAtLevel(sample, point.stages, level)]);
    for (const stages of cascades.filter((own) => own.length > 1))
      for (const level of START_LEVELS) visit(stages, [...stages.slice(1).map(() => -1), ...startsAtLevel(sample, stages, level)]);
    refine(() => bestUnderFloors(floors(), fromLater()), START_STEP);
    limit = points.length + STAGE_START_POINTS;
    refine(() => bestUnderFloors(floors(), fromLater()), START_STEP, "each");
  }

  return {
    points,
    add,
    keepFirst,
    run() {
      for (const stages of cascades) visitProportional(stages);
      for (const stages of cascades) {
        const step = coarseStep(stages);
        const grid = stages.slice(0, -1).map((model) => range(steps[model]?.length ?? 0, step));
        for (const at of product(grid)) visit(stages, at);
      }
      refine(() => bestUnderFloors(floors(), fromFirst()), Math.max(1, Math.floor(Math.max(...cascades.map(coarseStep)) / 2)));
      if (input.directStart) searchStarts();
    },
    focus({ floor, budgetSeconds }) {
      limit = input.directStart ? points.length + FOCUS_POINTS : Math.min(input.limit, points.length + FOCUS_POINTS);
      if (floor !== null) refine(() => bestUnderFloors([floor], fromFirst()), 4);
      if (input.directStart) limit = points.length + FOCUS_POINTS;
      if (floor !== null && input.directStart) refine(() => bestUnderFloors([floor], fromLater()), 4, "each");
      if (budgetSeconds !== null) refine(() => bestUnderBudget(budgetSeconds), 4);
    },
  };

  function visitProportional(stages: readonly number[]): void {
    const at = proportionalThresholds(sample, stages).map((threshold, stage) => {
      const own = steps[stages[stage] ?? 0] ?? [];
      const position = own.findIndex((useful) => useful >= threshold);
      return position < 0 ? own.length - 1 : position;
    });
    visit(stages, at);
  }
}

/** Key of a cascade with its start: thresholds are raised within one key. */
const cascadeKey = ({ stages, startBelow }: Pick<Evaluated, "stages" | "startBelow">): string =>
  startBelow === 0 ? stages.join("-") : `${stages.join("-")} from ${[startBelow].flat().join("-")}`;

/** Utopia: everything answered by the largest model; nadir: everything by the smallest (Cascadia, section 3.3). */
function qualityRange(points: readonly Evaluated[], models: number): QualityRange {
  const alone = (model: number): number =>
    points.find((point) => point.stages.length === 1 && point.stages[0] === model)?.quality ?? Number.NaN;
  const utopia = alone(models - 1);
  const nadir = alone(0);
  return Number.isFinite(utopia - nadir) && utopia > nadir ? { utopia, nadir } : { utopia: 100, nadir: 0 };
}

function latencySpread(points: readonly Evaluated[], measure: number): number {
  const latencies = points
    .map((point) => point.measured[measure]?.latencySeconds ?? 0)
    .filter((seconds) => seconds < Number.POSITIVE_INFINITY);
  return latencies.length === 0 ? 1 : Math.max(...latencies) - Math.min(...latencies) + 1e-3;
}

function least<Point>(points: readonly Point[], value: (point: Point) => number): Point | null {
  let found: Point | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const point of points) {
    const own = value(point);
    if (own < smallest) {
      smallest = own;
      found = point;
    }
  }
  return found;
}

function range(length: number, step: number): number[] {
  const offset = Math.floor(((length - 1) % step) / 2);
  return Array.from({ length: Math.ceil((length - offset) / step) }, (_, index) => offset + index * step);
}

/** One dimension up or down. */
const singleShifts = (dimensions: number): number[][] =>
  Array.from({ length: dimensions }, (_, moved) =>
    [-1, 1].map((by) => Array.from({ length: dimensions }, (_each, own) => (own === moved ? by : 0))),
  ).flat();

/** All combinations of -1, 0 and 1 except all zeros. */
const shifts = (dimensions: number): number[][] =>
  product(Array.from({ length: dimensions }, () => [-1, 0, 1])).filter((shift) => shift.some((value) => value !== 0));
