import { minMaxAllocation } from "@/solver/milp/bisection";
import { allocate } from "../choose/allocate";
import { choose, promisedQuality } from "../choose/choose";
import type { Candidate, Knobs } from "../explore/exploration";
import type { EvaluatedRouting, Explorer } from "../explore/explorer";
import { addReached, latencyOnGpus } from "../explore/fixedDeployment";
import { latencyUnderQuality, qualityUnderLatency } from "../explore/penalty";
import { proportionalThresholds } from "../routing/routing";
import { product } from "../routing/routingGrid";
import { STARVATION_LIMIT } from "../tables/endToEnd";

/** One round of the alternation: a routing with the deployment made for it. */
interface Iterate {
  /** Indices of models in the order in which requests reach them; stages that no request reaches are left out. */
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  /** GPUs per stage, by the deployment solver. */
  readonly gpus: readonly number[];
  readonly latencySeconds: number;
  /** The quality that is compared with the floor, 0..100. */
  readonly quality: number;
  /** J: in seconds when latency is minimised, in points of quality, negative, when quality is maximised. */
  readonly score: number;
}

export interface Alternation {
  readonly iterates: readonly Iterate[];
  /** The iterate with the least score as a candidate; null when all GPUs together do not sustain the load with the first model alone. */
  readonly candidate: Candidate | null;
}

/** The results of both ways to a plan, by the same tables. */
export interface BothWays {
  readonly alternation: Alternation;
  /** Number of routings the explorer held before the alternation: later ones came from it. */
  readonly searched: number;
  /** The best of each way within floor and budget; null where it found nothing. */
  readonly direct: Candidate | null;
  readonly alternated: Candidate | null;
  /** The one to be kept by the objective; null when neither found anything. */
  readonly better: "direct" | "alternation" | "same" | null;
  /** Alternated minus direct; null unless both found something. */
  readonly difference: { readonly latencySeconds: number; readonly quality: number } | null;
}

/** Number of iterations (the source's K) without a change of the best J after which the alternation ends. */
const STABLE_ITERATIONS = 3;

/**
 * The source's weights mu and nu, large enough that no saving outweighs a hundredth of a point. With the 100 s of its example
 * a minimiser may miss the floor by a tenth of a point to save half a second.
 */
const PENALTY_WEIGHT = 1e6;

/** Largest step of the search over thresholds, in points; halved down to 1. */
const FIRST_STEP = 32;

/** Differences of the objective below this are rounding errors of the 32-bit tables. */
const ROUNDING = 1e-6;

/**
 * Algorithm 1 of Cascadia over an explorer's tables. It starts with proportional routing of the ladder. The deployment solver
 * allocates GPUs to the models for the routing, and the routing solver changes the thresholds for the deployment, until the best
 * J of section 3.3 (appendix C when quality is maximised) is unchanged for `STABLE_ITERATIONS` iterations.
 *
 * The routing solver keeps every model's GPUs, so that a model without any never gets requests again; the parallelism within them
 * follows the routing, as in the lookup tables of section 3.2. The source does not specify its search: here thresholds
 * move one or several at a time, by halving steps, while J falls. Where no deployment sustains the load of the
 * start, thresholds are halved until one does. Every evaluated routing is added to the exploration.
 *
 * @param ladder indices of models that fit, smallest first; the source takes all of them.
 */
export function alternate(explorer: Explorer, knobs: Knobs, ladder: readonly number[]): Alternation {
  const { sample, maxGpus } = explorer.input;
  const asked = { gpus: Math.min(knobs.maxGpus, maxGpus), latency: knobs.latency };
  const quality = promisedQuality(knobs);

  const routingAt = (thresholds: readonly number[]): number => addReached(explorer, ladder, thresholds);
  const deploy = (routing: number): Candidate => allocate(explorer.exploration(), routing, asked);
  const scoreOf = scoring(
    knobs,
    ladder.map((model) => deploy(explorer.add([model], []))),
  );

  let thresholds: readonly number[] = proportionalThresholds(sample, ladder);
  let deployed = deploy(routingAt(thresholds));
  while (deployed.latencySeconds === Number.POSITIVE_INFINITY && thresholds.some((threshold) => threshold > 0)) {
    thresholds = thresholds.map((threshold) => Math.floor(threshold / 2));
    deployed = deploy(routingAt(thresholds));
  }
  if (deployed.latencySeconds === Number.POSITIVE_INFINITY) return { iterates: [], candidate: null };

  const iterates: Iterate[] = [];
  let candidate = deployed;
  let least = Number.POSITIVE_INFINITY;
  let stable = 0;
  while (stable < STABLE_ITERATIONS) {
    explorer.input.progress?.({ phase: "alternating", done: iterates.length, of: null });
    const { latencySeconds, gpus } = deployed;
    const { stages, thresholds: own } = explorer.routing(deployed.routing);
    const score = scoreOf({ latencySeconds, quality: quality(deployed) });
    iterates.push({ stages, thresholds: own, gpus, latencySeconds, quality: quality(deployed), score });
    stable = score < least - ROUNDING ? 0 : stable + 1;
    if (stable === 0) {
      least = score;
      candidate = deployed;
    }
    const given = gpusByModel(sample.models.length, { stages, gpus, inAll: asked.gpus });
    thresholds = descend(thresholds, (at) => {
      const routing = explorer.routing(routingAt(at));
      const promised = knobs.qualityConfidence === null ? routing.routed.quality : routing.qualityLow;
      return scoreOf({ latencySeconds: latencyOn(routing, given, asked), quality: promised });
    });
    deployed = deploy(routingAt(thresholds));
  }
  return { iterates, candidate };
}

/**
 * Alternates over the whole ladder as the source does, from an explorer that has searched (`createSearch`, any models in the cascade),
 * and compares the two results. The explorer then holds the routings of both: `choose` keeps the better.
 */
export function bothWays(explorer: Explorer, knobs: Knobs): BothWays {
  const { sample, shapes } = explorer.input;
  const exploration = explorer.exploration();
  const searched = exploration.routings.length;
  const direct = choose(exploration, knobs).chosen;
  const ladder = sample.models.map((_, model) => model).filter((model) => (shapes[model]?.length ?? 0) > 0);
  const alternation = alternate(explorer, knobs, ladder);
  const quality = promisedQuality(knobs);
  const within = (one: Candidate): boolean =>
    quality(one) >= (knobs.qualityFloor ?? 0) && one.latencySeconds <= (knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY);
  const alternated = alternation.candidate !== null && within(alternation.candidate) ? alternation.candidate : null;
  if (direct === null || alternated === null) {
    const found = direct === null ? "alternation" : "direct";
    return { alternation, searched, direct, alternated, better: direct === alternated ? null : found, difference: null };
  }
  const difference = {
    latencySeconds: alternated.latencySeconds - direct.latencySeconds,
    quality: quality(alternated) - quality(direct),
  };
  const loss = knobs.kind === "latency-under-quality" ? difference.latencySeconds : -difference.quality;
  const better = Math.abs(loss) <= ROUNDING ? "same" : loss > 0 ? "direct" : "alternation";
  return { alternation, searched, direct, alternated, better, difference };
}

/**
 * J with the anchors of the source: quality of everything at the largest and at the smallest model; latencies of the models
 * alone, for those that sustain the load, best and worst.
 */
function scoring(knobs: Knobs, alone: readonly Candidate[]): (point: { latencySeconds: number; quality: number }) => number {
  const quality = promisedQuality(knobs);
  const qualities = alone.map(quality);
  const seconds = alone.map(({ latencySeconds }) => latencySeconds).filter((value) => value < Number.POSITIVE_INFINITY);
  if (knobs.kind === "latency-under-quality") {
    const range = { utopia: qualities.at(-1) ?? 100, nadir: qualities[0] ?? 0 };
    const asked = { floor: knobs.qualityFloor ?? 0, range, weight: PENALTY_WEIGHT };
    return (point) => latencyUnderQuality(point, asked);
  }
  const range = seconds.length === 0 ? { best: 0, worst: 1 } : { best: Math.min(...seconds), worst: Math.max(...seconds) };
  const asked = { budgetSeconds: knobs.latencyBudgetSeconds ?? Number.MAX_VALUE, range, weight: PENALTY_WEIGHT };
  return (point) => qualityUnderLatency(point, asked);
}

/** GPUs per model of a deployment. GPUs that the stages leave go to the last and largest model: the source allocates all GPUs. */
function gpusByModel(
  models: number,
  { stages, gpus, inAll }: { readonly stages: readonly number[]; readonly gpus: readonly number[]; readonly inAll: number },
): readonly number[] {
  const given = new Array<number>(models).fill(0);
  for (const [stage, model] of stages.entries()) given[model] = gpus[stage] ?? 0;
  const last = stages.at(-1) ?? 0;
  given[last] = (given[last] ?? 0) + inAll - gpus.reduce((sum, f) => sum + f, 0);
  return given;
}

/** Latency of a routing on given GPUs per model; Infinity where a model does not sustain its load or is slower than `allocate` permits. */
function latencyOn(
  routing: EvaluatedRouting,
  given: readonly number[],
  { gpus, latency }: { readonly gpus: number; readonly latency: Knobs["latency"] },
): number {
  const own = routing.stages.map((model) => given[model] ?? 0);
  const even = minMaxAllocation(routing.tables, gpus)?.latencySeconds ?? 0;
  const held = latency === "end-to-end" && latencyOnGpus(routing, own, "largest-stage") > STARVATION_LIMIT * even;
  return held ? Number.POSITIVE_INFINITY : latencyOnGpus(routing, own, latency);
}

/** Moves integer thresholds 0..100 to the best neighbour, at halving steps, until none has a lower score. */
function descend(start: readonly number[], scoreAt: (thresholds: readonly number[]) => number): readonly number[] {
  const shifts = product(start.map(() => [-1, 0, 1]));
  let at = start;
  let least = scoreAt(at);
  for (let step = FIRST_STEP; step >= 1; step /= 2) {
    for (let moved = true; moved; ) {
      moved = false;
      for (const shift of shifts) {
        const to = at.map((threshold, stage) => Math.min(100, Math.max(0, threshold + step * (shift[stage] ?? 0))));
        const score = scoreAt(to);
        if (score < least) {
          least = score;
          at = to;
          moved = true;
        }
      }
    }
  }
  return at;
}
