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
  const engines = works.map(({ model }) => new Set(ofModel.get(model) ?? []));
  const taken = new Set<string>();
  let open = works.flatMap(({ work }, index) => (work > 0 && (engines[index]?.size ?? 0) > 0 ? [index] : []));
  while (open.length > 0) {
    const sets = setsOf(open).map((models) => {
      const own = new Set(models.flatMap((index) => [...(engines[index] ?? [])]).filter((engine) => !taken.has(engine)));
      return { models, own, utilisation: models.reduce((sum, index) => sum + (works[index]?.work ?? 0), 0) / own.size };
    });
    const busiest = sets.reduce((most, one) => (one.utilisation > most.utilisation ? one : most));
    for (const index of busiest.models)
      shares[index] = Math.min(1, (works[index]?.work ?? 0) / (engines[index]?.size ?? 1) / busiest.utilisation);
    for (const engine of busiest.own) taken.add(engine);
    open = open.filter((index) => !busiest.models.includes(index));
  }
  return shares;
}

/** All sets of one and more. */
const setsOf = (items: readonly number[]): readonly (readonly number[])[] =>
  Array.from({ length: 2 ** items.length - 1 }, (_, bits) => items.filter((_item, at) => ((bits + 1) >> at) % 2 === 1));
