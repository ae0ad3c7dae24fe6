import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { paretoFront } from "../explore/paretoFront";
import { allocate } from "./allocate";
import { leastGpus } from "./onFewestGpus";

/** Shares of the cluster's GPUs on which every routing is also evaluated. */
const GPU_SHARES = [1 / 8, 1 / 4, 1 / 2, 3 / 4] as const;

/** Up to this GPU count, every count between the shares is evaluated for the routings on the frontier. */
const EVERY_COUNT_TO = 32;

/** Per exploration, candidates by latency objective. */
const kept = new WeakMap<Exploration, Map<string, readonly Candidate[]>>();

/**
 * Every routing at its best allocation of fewer GPUs than the knobs allow, so that plans differ in cost: the fewest GPUs that sustain the
 * load, some shares of the cluster, and every count up to 32 GPUs for single models and for routings that are on the frontier at one of the
 * other counts. Allocations that do not sustain the load and repeated allocations are left out. Sorted by routing, then by GPUs.
 */
export function costCandidates(exploration: Exploration, { maxGpus, latency }: Pick<Knobs, "maxGpus" | "latency">): readonly Candidate[] {
  const own = kept.get(exploration) ?? new Map<string, readonly Candidate[]>();
  kept.set(exploration, own);
  // Based on the cluster's GPUs, not on the allowed GPUs: a change of the GPU knob only filters the cached candidates.
  const all = own.get(latency) ?? onFewerGpus(exploration, latency);
  own.set(latency, all);
  return all.filter((candidate) => candidate.gpusTotal < maxGpus);
}

function onFewerGpus(exploration: Exploration, latency: Knobs["latency"]): readonly Candidate[] {
  const { routings, maxGpus } = exploration;
  const everyRouting = [...routings.keys()];
  const on = (asked: readonly number[], gpus: (routing: number) => number): readonly Candidate[] =>
    asked
      .map((routing) => allocate(exploration, routing, { gpus: gpus(routing), latency }))
      .filter(({ latencySeconds }) => Number.isFinite(latencySeconds));
  const fewest = on(everyRouting, (routing) => Math.min(leastGpus(exploration, routing), maxGpus));
  const shares = GPU_SHARES.map((share) => on(everyRouting, () => Math.floor(share * maxGpus)));
  const onAll = on(everyRouting, () => maxGpus);
  const counting = new Set([
    ...everyRouting.filter((routing) => routings[routing]?.stages.length === 1),
    ...[fewest, ...shares, onAll].flatMap(onFrontier),
  ]);
  const counts = Array.from({ length: Math.min(EVERY_COUNT_TO, maxGpus - 1) }, (_, less) => less + 1);
  const between = counts.flatMap((gpus) => on([...counting], () => gpus));
  const found = new Map<number, Candidate>();
  for (const candidate of [...fewest, ...shares.flat(), ...between])
    found.set(candidate.routing * (maxGpus + 1) + candidate.gpusTotal, candidate);
  return [...found].sort(([a], [b]) => a - b).map(([, candidate]) => candidate);
}

/** The routings of candidates on one number of GPUs that no other beats in both latency and quality. */
function onFrontier(candidates: readonly Candidate[]): readonly number[] {
  const figures = candidates.map(({ qualityLow, latencySeconds, costUsdPerRequest, gpusTotal }) => ({
    quality: qualityLow,
    latency: latencySeconds,
    cost: costUsdPerRequest,
    gpus: gpusTotal,
  }));
  return paretoFront(figures, ["quality", "latency"]).flatMap((at) => candidates[at]?.routing ?? []);
}
