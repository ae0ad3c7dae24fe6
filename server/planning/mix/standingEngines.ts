import type { MixBeside } from "@/server/contracts/studio";
import type { MixGround } from "@/solver/mix/mixGround";
import { type MixProblem, solveMix } from "@/solver/mix/solveMix";
import { gpuOfNode } from "@/solver/plan/clusterGpus";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { noConstraints } from "@/solver/plan/constraints";
import { classFigures } from "./classFigures";
import { type MixedReplicas, mixPolicy, mixRoutes } from "./mixPolicy";
import type { MixSituation } from "./mixSituation";
import type { MixTask } from "./mixTask";
import { noMixText } from "./noMix";
import { simulateMix } from "./simulateMix";

interface Standing {
  readonly task: MixTask;
  readonly mixed: MixSituation;
  readonly ground: MixGround;
  readonly running: readonly RunningReplica[];
  readonly loadFactor: number;
  readonly solving: Parameters<typeof solveMix>[1];
}

/**
 * The mix on engines that run already, with the cascade and the configurations that are best on them: of the same candidates, chosen by the
 * same MILP, simulated under the same programs. Engines of models that the mix is not planned with are left out.
 */
export function onStandingEngines({ task, mixed, ground, running, loadFactor, solving }: Standing): MixBeside {
  const { cluster, workload } = task.situation;
  const replicas = standingReplicas(mixed, running, task);
  const gpus = running.reduce((sum, { shape }) => sum + shape.tp * shape.pp, 0);
  const solved = solveMix(fixedProblem(ground, replicas, loadFactor), solving);
  if (solved.outcome === "none")
    return { kind: "not-served", gpus, message: noMixText(solved, { gpus, cluster: `What runs on ${cluster.name}`, loadFactor }) };
  const routes = mixRoutes(task.mix, mixed, ground, solved);
  const policy = mixPolicy({ situation: task.situation, mixed, ground, replicas, routes, selection: task.mix.selection });
  const simulated = simulateMix({ traffic: mixed.traffic, policy, replicas, arrivalSeconds: workload.arrivalSeconds });
  if (simulated === null)
    return { kind: "not-served", gpus, message: "No program of the mix was completely served on them in the simulation." };
  const { meanSeconds, latencyQuantiles, quality } = simulated.figures;
  return {
    ...{ kind: "served", gpus, factor: solved.factor, classes: classFigures(ground, solved, simulated) },
    ...{ meanSeconds, p95Seconds: latencyQuantiles[95] ?? 0, quality },
  };
}

/** Running replicas by model and shape. */
function standingReplicas(
  { traffic }: MixSituation,
  running: readonly RunningReplica[],
  { situation: { cluster } }: MixTask,
): readonly MixedReplicas[] {
  const gpuOf = ({ placements }: RunningReplica): string | undefined => {
    const node = cluster.nodes.find(({ name }) => name === placements[0]?.node);
    return node === undefined ? undefined : gpuOfNode(cluster, node);
  };
  return traffic.outcomes.models.flatMap(({ model }, at) =>
    (traffic.shapes[at] ?? []).flatMap((own) => {
      const { tp, pp } = own.shape;
      const count = running.filter(
        (one) => one.model === model && one.shape.tp === tp && one.shape.pp === pp && gpuOf(one) === own.gpu,
      ).length;
      return count === 0 ? [] : [{ ...own, model, count }];
    }),
  );
}

/** The mix where every replica is a node of its own kind, so that no other replica has room there. */
function fixedProblem({ classes, models }: MixGround, replicas: readonly MixedReplicas[], loadFactor: number): MixProblem {
  const typeOf = (model: string, gpu: string, { tp, pp }: { readonly tp: number; readonly pp: number }): string =>
    `${model}/${gpu}/${tp}x${pp}`;
  const kept = models.map(({ model, shapes }) => ({
    model,
    shapes: shapes
      .filter(({ gpu, shape }) => replicas.some((own) => own.model === model && own.gpu === gpu && own.shape === shape))
      .map((own) => ({ ...own, gpu: typeOf(model, own.gpu, own.shape) })),
  }));
  const nodes = replicas.flatMap(({ model, gpu, shape, count }) =>
    Array.from({ length: count }, (_, at) => ({
      name: `${typeOf(model, gpu, shape)} ${at}`,
      gpu: typeOf(model, gpu, shape),
      gpus: shape.tp * shape.pp,
    })),
  );
  return {
    ...{ classes, models: kept, nodes, loadFactor, constraints: noConstraints, slack: 0, enough: 1 },
    usdPerGpuHour: Object.fromEntries(nodes.map(({ gpu }) => [gpu, 0])),
  };
}
