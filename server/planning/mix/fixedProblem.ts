import type { MixGround } from "@/solver/mix/mixGround";
import type { MixProblem } from "@/solver/mix/solveMix";
import { noConstraints } from "@/solver/plan/constraints";
import type { MixedReplicas } from "./mixPolicy";

/** The mix where every replica is a node of its own kind, so that no other replica has room there. */
export function fixedProblem({ classes, models }: MixGround, replicas: readonly MixedReplicas[], loadFactor: number): MixProblem {
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
