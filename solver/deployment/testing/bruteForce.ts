import { rateWithin } from "@/solver/engine/loadCurve";
import { mayRunOn } from "@/solver/plan/constraints";
import type { DeploymentProblem, ReplicaOption } from "../problem";

/** A replica with its GPUs per node, by index of node. */
interface Laid {
  readonly stage: number;
  readonly option: ReplicaOption;
  readonly gpus: readonly number[];
}

/**
 * The least latency by trying every deployment, for tests of small problems: Infinity where there is none. Written from the definition of
 * the constraints alone, it shares no code with the model.
 */
export function leastLatencyByTrying(problem: DeploymentProblem): number {
  const candidates = everyReplica(problem);
  let least = Number.POSITIVE_INFINITY;
  const visit = (from: number, chosen: Laid[], left: number[]): void => {
    if (keepsCounts(problem, chosen)) least = Math.min(least, secondsOf(problem, chosen, least));
    for (let index = from; index < candidates.length; index += 1) {
      const next = candidates[index];
      if (next === undefined || next.gpus.some((gpus, node) => gpus > (left[node] ?? 0))) continue;
      visit(
        index,
        [...chosen, next],
        left.map((gpus, node) => gpus - (next.gpus[node] ?? 0)),
      );
    }
  };
  visit(
    0,
    [],
    problem.nodes.map(({ gpus }) => gpus),
  );
  return least;
}

function everyReplica({ stages, nodes, constraints }: DeploymentProblem): Laid[] {
  return stages.flatMap(({ model, options }, stage) =>
    options.flatMap((option) => {
      const { tp, pp } = option.shape;
      if (constraints.excluded.includes(model)) return [];
      if (constraints.shapes.some((shape) => shape.model === model && (shape.tp !== tp || shape.pp !== pp))) return [];
      const open = nodes.map(({ name, gpu }) => gpu === option.gpu && mayRunOn(constraints, model, name));
      return spreads(nodes.length, pp)
        .filter((parts) => parts.every((count, node) => count === 0 || (open[node] === true && tp * count <= (nodes[node]?.gpus ?? 0))))
        .filter((parts) => !constraints.surviveNodeLoss || new Set(parts.filter((count) => count > 0)).size === 1)
        .map((parts) => ({ stage, option, gpus: parts.map((count) => tp * count) }));
    }),
  );
}

/** Every way to put so many parts on nodes. */
function spreads(nodes: number, parts: number): number[][] {
  if (nodes === 1) return [[parts]];
  return Array.from({ length: parts + 1 }, (_, first) => spreads(nodes - 1, parts - first).map((rest) => [first, ...rest])).flat();
}

function keepsCounts({ stages, nodes, constraints, usdPerGpuHour, running }: DeploymentProblem, chosen: readonly Laid[]): boolean {
  const gpusOf = ({ gpus }: Laid): number => gpus.reduce((sum, count) => sum + count, 0);
  const used = chosen.reduce((sum, laid) => sum + gpusOf(laid), 0);
  const usd = chosen.reduce((sum, laid) => sum + gpusOf(laid) * (usdPerGpuHour[laid.option.gpu] ?? 0), 0);
  const { minReplicasPerModel, maxGpus, maxUsdPerHour, maxChangedReplicas, idleGpus, pinned } = constraints;
  const count = (model: string): number => chosen.filter(({ stage }) => stages[stage]?.model === model).length;
  if (stages.some(({ model }) => count(model) < (minReplicasPerModel ?? 0))) return false;
  if (pinned.some(({ model, replicas }) => count(model) < replicas)) return false;
  if (used > (maxGpus ?? used) || usd > (maxUsdPerHour ?? usd) + 1e-9) return false;
  if (!idleGpus && used < nodes.reduce((sum, { gpus }) => sum + gpus, 0)) return false;
  if (maxChangedReplicas === null) return true;
  const left = [...chosen];
  let kept = 0;
  for (const { model, shape, placements } of running) {
    const gpus = nodes.map(({ name }) => placements.filter(({ node }) => node === name).reduce((sum, place) => sum + place.gpus.length, 0));
    const same = left.findIndex(
      (laid) =>
        stages[laid.stage]?.model === model &&
        laid.option.shape.tp === shape.tp &&
        laid.option.shape.pp === shape.pp &&
        laid.gpus.join() === gpus.join(),
    );
    if (same < 0) continue;
    left.splice(same, 1);
    kept += 1;
  }
  return running.length - kept + (chosen.length - kept) <= maxChangedReplicas;
}

/** The least weighted latency within which every stage is served, also after any node loss if considered; not searched above `unless`. */
function secondsOf({ stages, nodes, constraints }: DeploymentProblem, chosen: readonly Laid[], unless: number): number {
  const losses = constraints.surviveNodeLoss ? [null, ...nodes.keys()] : [null];
  const served = (limit: number): boolean =>
    stages.every(({ requestsPerSecond, latencyWeight = 1 }, stage) => {
      if (requestsPerSecond === 0) return true;
      const ownLimit = limit / latencyWeight;
      const own = chosen.filter((laid) => laid.stage === stage);
      if (own.some(({ option }) => rateWithin(option.curve, ownLimit) === 0)) return false;
      return losses.every((lost) => {
        const left = own.filter(({ gpus }) => lost === null || gpus[lost] === 0);
        return left.reduce((sum, { option }) => sum + rateWithin(option.curve, ownLimit), 0) >= requestsPerSecond * (1 - 1e-12);
      });
    });
  let high = Math.min(unless, 1e6);
  if (!served(high)) return Number.POSITIVE_INFINITY;
  let low = 0;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (served(middle)) high = middle;
    else low = middle;
  }
  return high;
}
