import { minMaxAllocation } from "../milp/bisection";
import { weightedAllocation } from "../milp/weightedAllocation";
import type { Candidate, Choice, Exploration, Knobs } from "./exploration";
import { counted, rateText, secondsText } from "./wording";

/**
 * Under the end-to-end objective no stage may be slower than this many times the smallest largest-stage latency. A stage that few
 * requests reach barely moves the p95; without a limit it would be left at the edge of saturation.
 */
export const STARVATION_LIMIT = 1.5;

/**
 * Chooses routing and GPUs for one setting of the knobs from the tables of an exploration: exact over all routings in it. Fast
 * enough for every step of a slider: the allocations are kept per GPU count, so moving the floor only sorts. No
 * simulation; the plan that is built afterwards is verified whole.
 */
export function choose(exploration: Exploration, knobs: Knobs): Choice {
  const gpus = Math.min(knobs.maxGpus, exploration.maxGpus);
  const candidates = allocated(exploration, gpus, knobs.latency);
  const quality = promisedQuality(knobs);
  const frontier = paretoFront(candidates, quality);
  const serving = candidates.filter((candidate) => candidate.latencySeconds < Number.POSITIVE_INFINITY);
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  const meets = serving.filter((candidate) => quality(candidate) >= floor && candidate.latencySeconds <= budget);
  const chosen = best(meets, knobs.kind, quality);
  if (chosen !== null)
    return { chosen, infeasible: null, binds: whatBinds(chosen, serving, { ...knobs, maxGpus: gpus }), candidates, frontier };
  return {
    chosen: null,
    infeasible: whyInfeasible(exploration, candidates, { ...knobs, maxGpus: gpus }),
    binds: null,
    candidates,
    frontier,
  };
}

/** The quality a knob setting plans against: the lower bound, or the point value when no confidence is asked. */
export function promisedQuality(knobs: Pick<Knobs, "qualityConfidence">): (candidate: Candidate) => number {
  return knobs.qualityConfidence === null ? (candidate) => candidate.quality : (candidate) => candidate.qualityLow;
}

/** The best by the objective: lowest latency, or highest quality; then cheapest. */
export function best(candidates: readonly Candidate[], kind: Knobs["kind"], quality: (candidate: Candidate) => number): Candidate | null {
  const key =
    kind === "latency-under-quality" ? (candidate: Candidate) => candidate.latencySeconds : (candidate: Candidate) => -quality(candidate);
  let found: Candidate | null = null;
  for (const candidate of candidates) {
    if (found === null) found = candidate;
    else {
      const gain = key(found) - key(candidate);
      if (gain > 0 || (gain === 0 && candidate.costUsdPerRequest < found.costUsdPerRequest)) found = candidate;
    }
  }
  return found;
}

const kept = new WeakMap<Exploration, Map<string, readonly Candidate[]>>();

/** Every routing at its best allocation; kept, since only GPU count and latency objective change it. */
function allocated(exploration: Exploration, gpus: number, latency: Knobs["latency"]): readonly Candidate[] {
  const own = kept.get(exploration) ?? new Map<string, readonly Candidate[]>();
  kept.set(exploration, own);
  const key = `${latency} ${gpus}`;
  const known = own.get(key);
  if (known !== undefined) return known;
  const fresh = exploration.routings.map((_, routing) => allocate(exploration, routing, { gpus, latency }));
  own.set(key, fresh);
  return fresh;
}

/** Seconds by GPU count (index f - 1) for each stage of a routing. */
export function stageTables(exploration: Exploration, routing: number): readonly Float32Array[] {
  const { maxGpus, stageP95, tableOffset } = exploration;
  const offset = tableOffset[routing] ?? 0;
  const stages = exploration.routings[routing]?.stages ?? [];
  return stages.map((_, stage) => stageP95.subarray(offset + stage * maxGpus, offset + (stage + 1) * maxGpus));
}

/** The weights of a routing's end-to-end latency, one per stage. */
function endToEndWeights(exploration: Exploration, routing: number): Float32Array {
  const first = (exploration.tableOffset[routing] ?? 0) / exploration.maxGpus;
  return exploration.endToEndWeight.subarray(first, first + (exploration.routings[routing]?.stages.length ?? 0));
}

/** The best allocation of one routing; infinite latency and no GPUs where it cannot keep up. */
export function allocate(
  exploration: Exploration,
  routing: number,
  { gpus, latency }: { readonly gpus: number; readonly latency: Knobs["latency"] },
): Candidate {
  const tables = stageTables(exploration, routing);
  const { quality = 0, qualityLow = 0, share = [] } = exploration.routings[routing] ?? {};
  const even = minMaxAllocation(tables, gpus);
  if (even === null) {
    const none = tables.map(() => 0);
    const infinite = Number.POSITIVE_INFINITY;
    return { routing, gpus: none, gpusTotal: 0, latencySeconds: infinite, costUsdPerRequest: infinite, quality, qualityLow };
  }
  const weights = endToEndWeights(exploration, routing);
  const stageLimitSeconds = STARVATION_LIMIT * even.latencySeconds;
  const found = latency === "largest-stage" ? even : (weightedAllocation(tables, gpus, { weights, stageLimitSeconds }) ?? even);
  const gpusTotal = found.gpus.reduce((sum, f) => sum + f, 0);
  const judged = latency === "largest-stage" ? 0 : (exploration.endToEndJudgeSeconds[routing] ?? 0);
  return {
    routing,
    gpus: found.gpus,
    gpusTotal,
    latencySeconds: found.latencySeconds + judged,
    costUsdPerRequest: costUsdPerRequest({ ...exploration, gpus: gpusTotal, share }),
    quality,
    qualityLow,
  };
}

/** GPUs by the hour over the requests they serve, plus a judge call for every answer that may be sent on. */
export function costUsdPerRequest(of: {
  readonly gpus: number;
  readonly usdPerGpuHour: number;
  readonly requestsPerSecond: number;
  readonly share: readonly number[];
  readonly judge: { readonly usdPerCall: number };
}): number {
  const judgeCalls = of.share.slice(0, -1).reduce((sum, share) => sum + share, 0);
  return (of.gpus * of.usdPerGpuHour) / 3600 / of.requestsPerSecond + judgeCalls * of.judge.usdPerCall;
}

/** Positions of the candidates that no other beats in latency and quality both, by rising quality. */
function paretoFront(candidates: readonly Candidate[], quality: (candidate: Candidate) => number): number[] {
  const order = candidates
    .map((_, index) => index)
    .filter((index) => (candidates[index]?.latencySeconds ?? 0) < Number.POSITIVE_INFINITY)
    .map((index) => ({ index, candidate: candidates[index] as Candidate }))
    .sort((a, b) => quality(b.candidate) - quality(a.candidate) || a.candidate.latencySeconds - b.candidate.latencySeconds);
  const front: number[] = [];
  let fastest = Number.POSITIVE_INFINITY;
  for (const { index, candidate } of order) {
    if (candidate.latencySeconds < fastest) {
      fastest = candidate.latencySeconds;
      front.push(index);
    }
  }
  return front.reverse();
}

const points = (value: number): string => value.toFixed(1);

function whatBinds(chosen: Candidate, serving: readonly Candidate[], knobs: Knobs): string {
  const quality = promisedQuality(knobs);
  const free = best(serving, knobs.kind, quality);
  if (free === null || free === chosen) {
    const gpus = knobs.maxGpus === 1 ? "The only GPU binds" : `The ${knobs.maxGpus} GPUs bind`;
    return `${gpus}: neither the floor nor the budget changes the choice.`;
  }
  if (knobs.kind === "latency-under-quality")
    return `The quality floor binds: without it ${secondsText(free.latencySeconds)} would do, at a quality of ${points(quality(free))}.`;
  return `The latency budget binds: without it a quality of ${points(quality(free))} is reached, at ${secondsText(free.latencySeconds)}.`;
}

function whyInfeasible(exploration: Exploration, candidates: readonly Candidate[], knobs: Knobs): NonNullable<Choice["infeasible"]> {
  const serving = candidates.filter((candidate) => candidate.latencySeconds < Number.POSITIVE_INFINITY);
  const here = `${rateText(exploration.requestsPerSecond)} on ${counted(knobs.maxGpus, "GPU")}`;
  const quality = promisedQuality(knobs);
  const measure =
    knobs.qualityConfidence === null ? "quality" : `lower ${Math.round(100 * exploration.qualityConfidence)} % bound of quality`;
  const highest = best(serving, "quality-under-latency", quality);
  const fastest = best(serving, "latency-under-quality", quality);
  if (highest === null || fastest === null) {
    return {
      reason: `No routing keeps up with ${here}: add GPUs or lower the rate.`,
      bestQuality: null,
      bestLatencySeconds: null,
    };
  }
  const reach = { bestQuality: quality(highest), bestLatencySeconds: fastest.latencySeconds };
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  if (quality(highest) < floor && candidates.some((candidate) => quality(candidate) >= floor)) {
    return {
      ...reach,
      reason: `The floor of ${floor} is reachable, but not at ${here}: at most ${points(quality(highest))} here. Add GPUs, lower the rate, or lower the floor.`,
    };
  }
  if (quality(highest) < floor) {
    return {
      ...reach,
      reason: `No thresholds reach a quality floor of ${floor}: the best ${measure} is ${points(quality(highest))}, at ${secondsText(highest.latencySeconds)}. Lower the floor to ${Math.floor(10 * quality(highest)) / 10}.`,
    };
  }
  if (fastest.latencySeconds > budget) {
    return {
      ...reach,
      reason: `No plan meets a latency budget of ${secondsText(budget)}: the lowest is ${secondsText(fastest.latencySeconds)}, at a quality of ${points(quality(fastest))}.`,
    };
  }
  const within =
    best(
      serving.filter((candidate) => candidate.latencySeconds <= budget),
      "quality-under-latency",
      quality,
    ) ?? fastest;
  const above =
    best(
      serving.filter((candidate) => quality(candidate) >= floor),
      "latency-under-quality",
      quality,
    ) ?? highest;
  return {
    bestQuality: quality(within),
    bestLatencySeconds: above.latencySeconds,
    reason: `Floor and budget exclude one another: a quality of ${floor} takes ${secondsText(above.latencySeconds)}, and ${secondsText(budget)} allow ${points(quality(within))}.`,
  };
}
