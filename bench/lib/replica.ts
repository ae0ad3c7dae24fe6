import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";

/** A replica of a shipped model on `tp` times `pp` GPUs of a shipped type, under the vLLM profile. Throws where it does not fit. */
export function shippedReplica(model: string, gpu: string, tp = 1, pp = 1): ReplicaModel {
  const [card, type] = [modelCards[model], gpuCards[gpu]];
  if (card === undefined || type === undefined) throw new Error(`There is no card of ${model} or ${gpu}`);
  const fit = replicaModel(card, type, { tp, pp });
  if (!fit.fits) throw new Error(`${model} does not fit ${tp} x ${gpu}: ${fit.reason}`);
  return fit.replica;
}
