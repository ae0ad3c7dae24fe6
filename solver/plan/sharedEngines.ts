import { busiestModels } from "./busiestModels";
import type { ClusterSpec, RunningReplica } from "./clusterSpec";

/** Engines that serve several models: a base model and its adapters, whose replicas are one engine with one batch and one cache. */
export interface SharedEngines {
  /** For a node that stands for an engine of another node: that node. */
  readonly hostOf: ReadonlyMap<string, string>;
  /** Of each model's running replicas: the node of the engine. */
  readonly ofModel: ReadonlyMap<string, readonly string[]>;
}

/** The engines that several models share; null where none is. */
export function sharedEnginesOf(
  { nodes }: Pick<ClusterSpec, "nodes">,
  running: readonly Pick<RunningReplica, "model" | "placements">[],
): SharedEngines | null {
  const hostOf = new Map(nodes.flatMap(({ name, engineOf }) => (engineOf === undefined ? [] : [[name, engineOf] as const])));
  if (hostOf.size === 0) return null;
  const ofModel = new Map<string, readonly string[]>();
  for (const { model, placements } of running) {
    const node = placements[0]?.node ?? "";
    ofModel.set(model, [...(ofModel.get(model) ?? []), hostOf.get(node) ?? node]);
  }
  return { hostOf, ofModel };
}

/** Work of a model on its engines, in engines: 1.5 is the work of one engine and a half. */
interface ModelWork {
  readonly model: string;
  readonly work: number;
}

/**
 * Share of its engines' speed that is left to each model where all load the same engines: its own work over all work there, 1 for a model
 * that is alone. At this share of the rates in its table a model finds the utilisation that all models together cause. Requests go to the
 * engine with the least work: the models whose engines have the most work share these, and the others share what engines are left.
 *
 * @param works of the models that are served together; work of 0 or above.
 */
export function sharesOfSpeed(works: readonly ModelWork[], { ofModel }: Pick<SharedEngines, "ofModel">): readonly number[] {
  const shares = works.map(() => 1);
  let open = works.flatMap(({ model, work }, index) => {
    const engines = [...new Set(ofModel.get(model) ?? [])];
    return work > 0 && engines.length > 0 ? [{ index, work, engines, of: engines.length }] : [];
  });
  while (open.length > 0) {
    const busiest = busiestModels(open);
    for (const { index, work, of } of busiest.models) shares[index] = Math.min(1, work / of / busiest.utilisation);
    const served = new Set(busiest.models.map(({ index }) => index));
    open = open
      .filter(({ index }) => !served.has(index))
      .map((one) => ({ ...one, engines: one.engines.filter((engine) => !busiest.engines.has(engine)) }));
  }
  return shares;
}
