import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { type CardCatalogue, cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { limitsOfModel } from "@/solver/hardware/engineLimits";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { HostedModel } from "@/solver/hardware/hostedModel";
import { hostedReplica } from "@/solver/hardware/hostedReplica";
import { feasibleReplicas, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { gpuCount, gpuOfNode, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { allowsReplica, noConstraints } from "@/solver/plan/constraints";
import { sharedEnginesOf } from "@/solver/plan/sharedEngines";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { asksJudgeOn, type GateDocuments, type StageGates, stageGatesOf, withGateScores } from "@/solver/stageGates/stageGate";
import type { Workload } from "@/solver/workload/workload";
import { type PlanningSample, planningSample } from "../routing/routing";
import { fixedTopology } from "../tables/fixedTopology";
import { meanUsdPerGpuHour } from "../tables/gpuMix";
import { createExplorer } from "./explore";
import type { ExploreInput, Explorer } from "./explorer";
import { judgeOf, type PlanningSituation } from "./situation";

type Hardware = Pick<PlanningSituation, "cluster" | "userCards" | "engineProfile" | "constraints" | "dataMayLeave">;

export const catalogue = ({ userCards = noUserCards }: Hardware): CardCatalogue => catalogueOf(userCards);

/** The models to plan with, smallest first: the requested models that no constraint excludes. */
export const modelsOf = ({ workload, models, ...hardware }: Hardware & Pick<PlanningSituation, "workload" | "models">): readonly string[] =>
  workload.outcomes.models
    .map(({ model }) => model)
    .filter((model) => (models === undefined || models.includes(model)) && !hardware.constraints?.excluded.includes(model))
    .filter((model) => !isBarred(hardware, model));

/** The terms of a model that a provider hosts for a situation; null if the cluster names none, or the data stays in the house. */
export const hostedModelOf = ({ cluster, dataMayLeave }: Hardware, model: string): HostedModel | null =>
  dataMayLeave === true ? (cluster.hosted?.find((one) => one.model === model) ?? null) : null;

/** Whether only a provider could serve a model, and the data stays in the house. */
export const isBarred = (hardware: Hardware, model: string): boolean =>
  hardware.dataMayLeave !== true &&
  (hardware.cluster.hosted ?? []).some((one) => one.model === model) &&
  cardOf(catalogue(hardware).models, model) === undefined;

/** The cluster's GPU types, its own first. @throws when one has no card. */
export function gpusOf(hardware: Hardware): readonly GpuCard[] {
  const { gpus } = catalogue(hardware);
  return gpuTypes(hardware.cluster).map((id) => {
    const gpu = cardOf(gpus, id);
    if (gpu === undefined) throw new Error(`no card of the GPU ${id}`);
    return gpu;
  });
}

/** The replicas of each model that fit the cluster in an allowed shape, ascending by GPUs. @throws when a card is missing. */
export function shapesOf(hardware: Hardware, models: readonly string[]): readonly (readonly ShapedReplica[])[] {
  const { cluster, engineProfile, constraints } = hardware;
  const gpus = gpusOf(hardware);
  const cards = catalogue(hardware).models;
  return models.map((id) => {
    // A provider's engines are not placed.
    if (hostedModelOf(hardware, id) !== null) return [];
    const card = cardOf(cards, id);
    if (card === undefined) throw new Error(`no card of the model ${id}`);
    const limits = limitsOfModel(cluster.engineLimits, id);
    const wanted = constraints?.shapes.filter(({ model }) => model === id) ?? [];
    return gpus
      .flatMap((gpu) => feasibleReplicas(card, gpu, { ...limitsOf(cluster, gpu.id), limits }, engineProfile))
      .filter(({ shape }) => wanted.every(({ tp, pp }) => tp === shape.tp && pp === shape.pp))
      .sort((a, b) => a.shape.tp * a.shape.pp - b.shape.tp * b.shape.pp);
  });
}

/** The limits of replicas on the GPUs of one type. */
const limitsOf = (cluster: ClusterSpec, gpu: string): { readonly gpusPerNode: number; readonly maxGpus: number } => ({
  gpusPerNode: Math.max(...cluster.nodes.filter((node) => gpuOfNode(cluster, node) === gpu).map((node) => node.gpus)),
  maxGpus: gpuCount(cluster, gpu),
});

/** Inputs of an explorer in addition to its situation. */
export interface Explored extends Pick<ExploreInput, "qualityConfidence" | "cancelled" | "progress"> {
  readonly models: readonly string[];
  /** Rows of the workload's outcomes to plan on. */
  readonly rows: Int32Array;
  readonly percentile: number;
}

/** The running replicas that a plan may use, with their GPU type, where the deployment is given; null where replicas are chosen. */
export function standing({
  cluster,
  running = [],
  topology,
  constraints = noConstraints,
}: Pick<PlanningSituation, "cluster" | "running" | "topology" | "constraints">) {
  if (topology !== "given") return null;
  return running
    .filter((replica) => allowsReplica(constraints, replica))
    .map(({ model, shape, placements }) => {
      const node = cluster.nodes.find(({ name }) => name === placements[0]?.node);
      return { model, shape, placements, gpu: node === undefined ? cluster.gpu : gpuOfNode(cluster, node) };
    });
}

/** An explorer of a situation. @throws when a card is missing. */
export function explorerOf(situation: PlanningSituation, { models, rows, percentile, ...explored }: Explored): Explorer {
  const { workload, cluster, requestsPerSecond, directStart, judge } = situation;
  const mix = gpuTypes(cluster).map((gpu) => ({ gpu, gpus: gpuCount(cluster, gpu) }));
  const asksJudge = situation.gates === undefined || Object.values(situation.gates).some(asksTheJudge);
  const judgeModels = asksJudge && judge?.kind === "engine" ? [judge.model] : [];
  const stageGates = scoredGates(workload, situation.gates ?? null);
  const peers = [...new Set([...stageGates.values()].flatMap((gate) => gate.peers))];
  const deployable = [...models, ...judgeModels, ...peers];
  const shapes = shapesOf(situation, deployable);
  const running = standing(situation);
  const fixed = running === null ? null : fixedTopology(deployable, shapes, running);
  const shared = running === null ? null : sharedEnginesOf(cluster, running);
  const stays =
    fixed === null ? shapes : shapes.map((own, model) => own.filter(({ shape }) => fixed[model]?.some((one) => one.shape === shape)));
  const hosted = models.map((model) => hostedModelOf(situation, model));
  const sample = gatedSample(workload, { rows, models, gates: stageGates });
  return createExplorer({
    ...explored,
    sample,
    ...(situation.rivalGates === undefined
      ? {}
      : {
          rivals: situation.rivalGates.map((gates) => gatedSample(workload, { rows, models, gates: scoredGates(workload, gates) })),
        }),
    ...(situation.gates === undefined
      ? {}
      : {
          gates: {
            stages: stageGates,
            samples: models.map((model) => stageGates.get(model)?.samples ?? 0),
            peers: peers.map((model, index) => ({
              model,
              shapes: stays[models.length + judgeModels.length + index] ?? [],
              outputTokens: planningSample(workload.outcomes, rows, [model]).outputTokens[0] ?? new Int32Array(),
              askedBy: models.flatMap((own, at) => (stageGates.get(own)?.peers.includes(model) ? [at] : [])),
            })),
          },
        }),
    shapes: stays.slice(0, models.length).map((own, model) => hostedShapes(hosted[model] ?? null, sample.outputTokens[model]) ?? own),
    ...(hosted.some((one) => one !== null) ? { hosted } : {}),
    ...(fixed === null ? {} : { fixedTopology: fixed }),
    ...(shared === null ? {} : { sharedEngines: shared }),
    arrivalSeconds: workload.arrivalSeconds,
    requestsPerSecond,
    maxGpus: gpuCount(cluster),
    ...(mix.length > 1 ? { mix } : {}),
    usdPerGpuHour: meanUsdPerGpuHour(mix, gpuPrices(cluster)),
    judge: asksJudge ? judgeOf(situation) : { secondsPerCall: 0, usdPerCall: 0 },
    ...(asksJudge && judge?.kind === "engine" ? { judgeEngine: { ...judge, shapes: stays[models.length] ?? [] } } : {}),
    ...(directStart === undefined ? {} : { directStart }),
    quantile: percentile / 100,
    seed: mixSeed(workload.seed, "planning"),
  });
}

/** The one replica of a hosted model; null for others. */
function hostedShapes(model: HostedModel | null, outputTokens: Int32Array | undefined): readonly ShapedReplica[] | null {
  return model === null ? null : [hostedReplica(model, mean(Float64Array.from(outputTokens ?? [1])))];
}

const asksTheJudge = (gate: GateDocument): boolean => simpleGatesOf(gate).some(({ kind }) => kind === "judge");

/** The gates of documents; none for the judge alone. Throws where the workload does not have their scores: `stageGatesOf` says so before. */
function scoredGates(workload: Workload, documents: GateDocuments | null): StageGates {
  const gates = stageGatesOf(workload, documents ?? {});
  if (isRefused(gates)) throw new Error(gateRefusalText(gates));
  return gates;
}

/** The planning sample with the scores of gates; of the judge where there are none. */
function gatedSample(
  workload: Workload,
  { rows, models, gates }: { readonly rows: Int32Array; readonly models: readonly string[]; readonly gates: StageGates },
): PlanningSample {
  const sample = planningSample(gates.size === 0 ? workload.outcomes : withGateScores(workload, gates), rows, models);
  if (gates.size === 0) return sample;
  return { ...sample, asksJudge: asksJudgeOn(gates, models, rows) };
}
