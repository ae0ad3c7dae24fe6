import type { ClusterDetail, ClusterSummary } from "@/server/contracts/studio";
import { sizeInName } from "../ui/modelIdentity";

/** A model that runs on a cluster at the moment. */
export interface RunningModel {
  readonly model: string;
  readonly engines: number;
  /** The number of its engines that answer now. */
  readonly serving: number;
}

/** The models and judges of a connected cluster that can answer prompts or judge answers. */
export interface EndpointCluster {
  readonly id: string;
  readonly name: string;
  readonly emulated: boolean;
  /** Smallest first. */
  readonly models: readonly RunningModel[];
  readonly judges: readonly string[];
}

/** Engines in these states are up, or will be again without intervention. */
const standing: readonly ClusterDetail["engines"][number]["state"][] = ["serving", "silent", "not routed"];

/** Billions of parameters by card id; a model without a card is sized by its name, and comes last where the name has no size. */
export type ModelSizes = ReadonlyMap<string, number>;

export const sizeOf = (model: string, sizes: ModelSizes): number => sizes.get(model) ?? sizeInName(model) ?? Number.POSITIVE_INFINITY;

/** The available models and judges by cluster, from the last observation of the clusters. */
export function prepareProfileEndpoints(
  clusters: readonly ClusterSummary[],
  details: ReadonlyMap<string, ClusterDetail>,
  sizes: ModelSizes,
): readonly EndpointCluster[] {
  return clusters.flatMap(({ spec, emulated }) => {
    const detail = details.get(spec.id);
    if (detail === undefined) return [];
    const models = new Map<string, RunningModel>();
    for (const { model, state } of detail.engines) {
      if (!standing.includes(state)) continue;
      const { engines, serving } = models.get(model) ?? { engines: 0, serving: 0 };
      models.set(model, { model, engines: engines + 1, serving: serving + (state === "silent" ? 0 : 1) });
    }
    return [
      {
        id: spec.id,
        name: spec.name,
        emulated,
        models: [...models.values()].sort((a, b) => sizeOf(a.model, sizes) - sizeOf(b.model, sizes) || a.model.localeCompare(b.model)),
        judges: detail.judges,
      },
    ];
  });
}
