import { createExplorer, type ExploreInput, type Explorer } from "@/solver/cascade/explore";
import { planningSample } from "@/solver/cascade/routing";
import { type CardCatalogue, cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { GpuCard } from "@/solver/hardware/gpus";
import { feasibleReplicas, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mixSeed } from "@/solver/numeric/random";
import { gpuCount } from "@/solver/plan/clusterGpus";
import { judgeOf, type PlanningSituation } from "./planningRequest";

type Hardware = Pick<PlanningSituation, "cluster" | "userCards" | "engineProfile">;

export const catalogue = ({ userCards = noUserCards }: Hardware): CardCatalogue => catalogueOf(userCards);

/** The models to plan with, smallest first. */
export const modelsOf = ({ workload, models }: Pick<PlanningSituation, "workload" | "models">): readonly string[] =>
  workload.outcomes.models.map(({ model }) => model).filter((model) => models === undefined || models.includes(model));

/** The cluster's GPU. @throws when it has no card. */
export function gpuOf(hardware: Hardware): GpuCard {
  const { gpu: id } = hardware.cluster;
  const gpu = cardOf(catalogue(hardware).gpus, id);
  if (gpu === undefined) throw new Error(`no card of the GPU ${id}`);
  return gpu;
}

/** The replicas of each model that fit the cluster. @throws when a card is missing. */
export function shapesOf(hardware: Hardware, models: readonly string[]): readonly (readonly ShapedReplica[])[] {
  const { cluster, engineProfile } = hardware;
  const gpu = gpuOf(hardware);
  const cards = catalogue(hardware).models;
  const limits = { gpusPerNode: Math.max(...cluster.nodes.map((node) => node.gpus)), maxGpus: gpuCount(cluster) };
  return models.map((id) => {
    const card = cardOf(cards, id);
    if (card === undefined) throw new Error(`no card of the model ${id}`);
    return feasibleReplicas(card, gpu, limits, engineProfile);
  });
}

/** What an explorer is made for beside its situation. */
export interface Explored extends Pick<ExploreInput, "qualityConfidence" | "cancelled" | "progress"> {
  readonly models: readonly string[];
  /** Rows of the workload's outcomes to plan on. */
  readonly rows: Int32Array;
  readonly percentile: number;
}

/** An explorer of a situation. @throws when a card is missing. */
export function explorerOf(situation: PlanningSituation, { models, rows, percentile, ...explored }: Explored): Explorer {
  const { workload, cluster, requestsPerSecond, directStart } = situation;
  return createExplorer({
    ...explored,
    sample: planningSample(workload.outcomes, rows, models),
    shapes: shapesOf(situation, models),
    arrivalSeconds: workload.arrivalSeconds,
    requestsPerSecond,
    maxGpus: gpuCount(cluster),
    usdPerGpuHour: cluster.usdPerGpuHour,
    judge: judgeOf(situation),
    ...(directStart === undefined ? {} : { directStart }),
    quantile: percentile / 100,
    seed: mixSeed(workload.seed, "planning"),
  });
}
