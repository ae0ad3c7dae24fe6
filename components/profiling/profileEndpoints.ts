import type { ClusterDetail, ClusterSummary } from "@/server/contracts/studio";
import { sizeInName } from "../ui/modelIdentity";

/** A model that runs on a cluster at the moment. */
export interface RunningModel {
  readonly model: string;
  readonly engines: number;
  /** Of those, engines that answer now. */
  readonly serving: number;
}

/** What of a connected cluster can answer prompts or judge answers. */
export interface EndpointCluster {
  readonly id: string;
  readonly name: string;
  readonly emulated: boolean;
  /** Smallest first. */
  readonly models: readonly RunningModel[];
  readonly judges: readonly string[];
}

/** Engines of these states are up, or will be again without anybody's doing. */
const standing: readonly ClusterDetail["engines"][number]["state"][] = ["serving", "silent", "not routed"];

/** Billions of parameters by card id; what has none is told from its name, and comes last where that says nothing. */
export type ModelSizes = ReadonlyMap<string, number>;

export const sizeOf = (model: string, sizes: ModelSizes): number => sizes.get(model) ?? sizeInName(model) ?? Number.POSITIVE_INFINITY;

/** Who is there to be asked, by cluster, as the clusters were seen last. */
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
