import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { memoryFit } from "@/solver/hardware/memoryFit";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import type { ClusterShape } from "./settings";

/** The data of an engine that fits. */
export type EngineFit =
  | {
      readonly ok: true;
      readonly replica: ReplicaModel;
      readonly weightBytesPerGpu: number;
      readonly maxModelTokens: number;
    }
  | { readonly ok: false; readonly message: string };

/** GPUs a request would hold, as `node/index`. */
export const gpuKeys = (request: EngineRequest): readonly string[] =>
  request.placements.flatMap(({ node, gpus }) => gpus.map((gpu) => `${node}/${gpu}`));

/** Whether the cluster could run such an engine on empty GPUs; if not, a sentence that names the mismatch. */
export function engineFit(cluster: ClusterShape, request: EngineRequest, cards: CardCatalogue): EngineFit {
  const refuse = (message: string): EngineFit => ({ ok: false, message });
  const model = cardOf(cards.models, request.model);
  if (model === undefined) return refuse(`There is no model card "${request.model}".`);
  const gpu = cardOf(cards.gpus, request.gpu);
  if (gpu === undefined || request.gpu !== cluster.gpu) return refuse(`This cluster has ${cluster.gpu} GPUs, not "${request.gpu}".`);

  for (const { node, gpus } of request.placements) {
    const known = cluster.nodes.find((one) => one.name === node);
    if (known === undefined) return refuse(`There is no node "${node}": nodes are ${cluster.nodes.map((one) => one.name).join(", ")}.`);
    const missing = gpus.find((index) => index >= known.gpus);
    if (missing !== undefined) return refuse(`Node ${node} has no GPU ${missing}: its GPUs are 0 to ${known.gpus - 1}.`);
    if (gpus.length % request.tp !== 0)
      return refuse(`Tensor parallelism ${request.tp} would cross nodes: ${gpus.length} GPUs are on ${node}.`);
  }
  const keys = gpuKeys(request);
  const asked = request.tp * request.pp;
  if (new Set(keys).size !== asked || keys.length !== asked) {
    return refuse(`tp ${request.tp} x pp ${request.pp} takes ${asked} different GPUs, the placements name ${keys.join(", ")}.`);
  }
  const memory = memoryFit(model, gpu, request);
  if (!memory.fits) return refuse(memory.reason);
  const replica = replicaModel(model, gpu, request);
  if (!replica.fits) return refuse(replica.reason);
  const maxModelTokens = Math.min(model.maxContextTokens, memory.kvTokens);
  return { ok: true, replica: replica.replica, weightBytesPerGpu: memory.weightBytesPerGpu, maxModelTokens };
}
