import type { Outcome } from "@/server/contracts/studio";
import type { LabReplicas, LabSpec } from "@/server/contracts/studio/lab";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { atPrecision } from "@/solver/hardware/modelCard";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { engineFigures, type LabEngines, meanTokens } from "@/solver/lab/engineFigures";
import type { OrderDocument } from "@/solver/plan/policySchema";
import type { ProgramSample } from "@/solver/workflow/programSample";

export interface LabHardware {
  readonly catalogue: CardCatalogue;
  readonly profile: EngineProfile;
}

type Modelled = Outcome<{ readonly replica: ReplicaModel }>;

/** The simulator's model of one of the engines, or why there is none, in a sentence. */
export function modelledEngine(
  { model, gpu, precision, tp, pp, maxSequences }: LabReplicas,
  { catalogue, profile }: LabHardware,
): Modelled {
  const [card, type] = [cardOf(catalogue.models, model), cardOf(catalogue.gpus, gpu)];
  if (card === undefined || type === undefined) return { ok: false, message: `There is no card of ${card === undefined ? model : gpu}.` };
  const fit = replicaModel(atPrecision(card, precision), type, { tp, pp }, profile);
  return fit.fits
    ? { ok: true, replica: { ...fit.replica, maxSequences: maxSequences ?? fit.replica.maxSequences } }
    : { ok: false, message: `${model} with tp ${tp} and pp ${pp} does not fit ${gpu} by its card: ${fit.reason}` };
}

/** Engines by model, in the order in which models are named first. @throws Error with the sentence of `modelledEngine`. */
export function enginesByModel(replicas: readonly LabReplicas[], hardware: LabHardware): readonly LabEngines[] {
  const models = [...new Set(replicas.map(({ model }) => model))];
  return models.map((model) => ({
    model,
    replicas: replicas
      .filter((each) => each.model === model)
      .map((each) => {
        const modelled = modelledEngine(each, hardware);
        if (!modelled.ok) throw new Error(modelled.message);
        return { replica: modelled.replica, count: each.count };
      }),
  }));
}

/** More than an engine ever gets. */
const UNBOUNDED = 2 ** 30;

/**
 * The engines one by one. Where the queue is in the centre an engine holds as many requests as it decodes at once, at the sample's mean
 * lengths; else as many as come, and its own queue ages them. With feedback that preempts, quanta of service are counted there in decode steps
 * of a full batch.
 */
export function clusterReplicas(
  engines: readonly LabEngines[],
  { queue, aging }: Pick<LabSpec, "queue" | "aging">,
  sample: ProgramSample,
  order: OrderDocument = { kind: "fcfs" },
): readonly ClusterReplica[] {
  return engines.flatMap(({ model, replicas }) => {
    const tokens = meanTokens(sample, sample.models.indexOf(model));
    const all = replicas.flatMap(({ replica, count }) => Array.from({ length: count }, () => replica));
    return all.map((replica, index): ClusterReplica => {
      const { maxBatchSize, decodeSecondsPerToken } = engineFigures({ model, replicas: [{ replica, count: 1 }] }, tokens);
      const inEngines = queue === "engines";
      const steps = (seconds: number): number => Math.max(1, Math.round(seconds / decodeSecondsPerToken));
      const feedback = order.kind === "mlfq" && order.preempts ? { quantaSteps: order.quantaSeconds.map(steps) } : null;
      return {
        id: `${model} ${index + 1}`,
        model,
        replica: inEngines ? { ...replica, ...(aging && { aging }), ...(feedback && { feedback }) } : replica,
        maxInFlight: inEngines ? UNBOUNDED : maxBatchSize,
      };
    });
  });
}

/** GPUs of all engines together. */
export const gpusOf = (replicas: readonly LabReplicas[]): number => replicas.reduce((sum, { tp, pp, count }) => sum + tp * pp * count, 0);
