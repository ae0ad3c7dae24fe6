import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { MixGround } from "@/solver/mix/mixGround";
import type { SolvedMix } from "@/solver/mix/solveMix";
import type { ModelDeployment } from "@/solver/plan/plan";
import type { MixedReplicas } from "./mixPolicy";
import type { MixSituation } from "./mixSituation";
import type { MixTask } from "./mixTask";

/** Replicas of a solution by model and shape. */
export function mixedReplicas({ traffic }: MixSituation, { replicas }: SolvedMix): readonly MixedReplicas[] {
  return traffic.shapes.flatMap((shapes, model) =>
    shapes.flatMap((own) => {
      const count = replicas.filter(({ stage, option }) => stage === model && option.gpu === own.gpu && option.shape === own.shape).length;
      return count === 0 ? [] : [{ ...own, model: traffic.outcomes.models[model]?.model ?? "", count }];
    }),
  );
}

/** The replicas on their nodes, as a plan lists them: each takes as much of its model's requests as it has of the capacity. */
export function mixDeployment(task: MixTask, { models }: MixGround, { replicas }: SolvedMix): readonly ModelDeployment[] {
  const { models: cards } = catalogueOf(task.situation.userCards ?? noUserCards);
  return models.flatMap(({ model, shapes }, at): ModelDeployment[] => {
    const groups = shapes.flatMap(({ gpu, shape, curve }) => {
      const own = replicas.filter(({ stage, option }) => stage === at && option.gpu === gpu && option.shape === shape);
      return own.length === 0
        ? []
        : [{ gpu, shape, own, gpus: own.length * shape.tp * shape.pp, capacity: curve.at(-1)?.workPerSecond ?? 0 }];
    });
    const [main] = groups.toSorted((a, b) => b.gpus - a.gpus);
    if (main === undefined) return [];
    const all = groups.reduce((sum, { own, capacity }) => sum + own.length * capacity, 0);
    return [
      {
        ...{ model, precision: cardOf(cards, model)?.precision ?? "bf16", gpu: main.gpu },
        gpus: groups.reduce((sum, { gpus }) => sum + gpus, 0),
        replicas: groups.map(({ gpu, shape: { tp, pp }, own, capacity }) => ({
          ...(gpu === main.gpu ? {} : { gpu }),
          ...{ tp, pp, count: own.length, shareEach: capacity / all },
          placements: own.map(({ placements }) => placements.map(({ node, gpus }) => ({ node, gpus: [...gpus] }))),
        })),
      },
    ];
  });
}
