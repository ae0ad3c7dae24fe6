import type { Batches } from "@/server/batches/createBatches";
import { emulationProblem } from "@/server/batches/emulatedWorkload";
import { freeGroups, freeWorkers, gpusByNode } from "@/server/batches/freeWorkers";
import { batchJobFile } from "@/server/batches/jobFiles/batchJobFile";
import { noRoomForAggregator, prepareOrder } from "@/server/batches/prepareOrder";
import { claimOnCluster } from "@/server/clusters/apply/claims";
import type { Batch, BatchResult, BatchSummary, Outcome } from "@/server/contracts/studio";
import type { BatchExport, BatchPreview, BatchRequest } from "@/server/contracts/studio/batches";
import type { Fleet } from "@/server/fleet/fleet";
import type { BatchOrder, ExpertsOrder } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import type { Actor } from "../base/actor";
import type { ServiceParts } from "../base/serviceParts";

export interface BatchServiceParts extends ServiceParts {
  readonly clusterOf: Fleet["get"];
  readonly batches: Batches;
}

/** Batches: prepared for the GPUs that are free now, run by the studio, or exported as a job file. */
export function createBatchService({ store, uploads, cards, clusterOf, batches }: BatchServiceParts) {
  const note = store.audit.noting("batch");
  const nameOf = (id: string): string => store.batches.summary(id)?.name ?? id;
  const noCluster = (id: string) => ({ ok: false, message: `There is no cluster ${id}.` }) as const;

  async function prepared(request: BatchRequest, signal: AbortSignal): Promise<Outcome<{ readonly order: BatchOrder }>> {
    if (store.clusters.get(request.clusterId) === null) return noCluster(request.clusterId);
    const claim = claimOnCluster(request.clusterId, store);
    if (claim !== null) return { ok: false, message: claim };
    const cluster = clusterOf(request.clusterId);
    if (cluster === null)
      return { ok: false, message: "This cluster is not connected: nothing can be loaded there. Export a job file instead." };
    const observation = await cluster.connector.observe(signal);
    if (!observation.ok) return observation;
    const hardware = freeWorkers(observation.value, request);
    if (!hardware.ok) return hardware;
    const { emulated } = cluster.connector;
    const mute = emulated ? emulationProblem(store, observation.value, modelsOf(store, request.ensemble)) : null;
    if (mute !== null) return { ok: false, message: mute };
    const { catalogue } = cards.read();
    const made = await prepareOrder(request, { store, uploads, cards: catalogue, hardware, observed: observation.value, emulated, signal });
    if (!made.ok) return made;
    const { order, aggregator } = made;
    return aggregator === null ? { ok: false, message: noRoomForAggregator(order) } : { ok: true, order: { ...order, ...aggregator } };
  }

  /** The order for a job file. */
  async function ordered(asked: BatchExport, signal: AbortSignal): Promise<Outcome<{ readonly order: ExpertsOrder }>> {
    if ("batchId" in asked) {
      const batch = store.batches.get(asked.batchId);
      return batch === null ? { ok: false, message: "There is no such batch." } : { ok: true, order: batch.order };
    }
    const { request } = asked;
    const cluster = store.clusters.get(request.clusterId);
    if (cluster === null) return noCluster(request.clusterId);
    // Whoever runs the job must check what is free.
    const hardware = freeWorkers({ ...cluster.spec, engines: [] }, request);
    if (!hardware.ok) return hardware;
    const { catalogue } = cards.read();
    return prepareOrder(request, { store, uploads, cards: catalogue, hardware, observed: null, emulated: false, signal });
  }

  return {
    /** Newest first. */
    list: (): readonly BatchSummary[] => batches.list(),
    get: (id: string): Batch | null => batches.get(id),
    /** Workers of so many GPUs each that the cluster has free now. */
    async room(
      { clusterId, gpusPerWorker }: { readonly clusterId: string; readonly gpusPerWorker: number },
      signal: AbortSignal,
    ): Promise<Outcome<{ readonly workers: number }>> {
      const cluster = clusterOf(clusterId);
      if (cluster === null) return { ok: false, message: "This cluster is not connected." };
      const seen = await cluster.connector.observe(signal);
      return seen.ok ? { ok: true, workers: freeGroups(seen.value, gpusPerWorker).length } : seen;
    },
    /** The effect of `start`; nothing is started. */
    async preview(request: BatchRequest, signal: AbortSignal): Promise<Outcome<{ readonly preview: BatchPreview }>> {
      const made = await prepared(request, signal);
      return made.ok ? { ok: true, preview: previewOf(made.order) } : made;
    },
    async start(request: BatchRequest, signal: AbortSignal, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      const made = await prepared(request, signal);
      if (!made.ok) return made;
      // `start` checks again whether anything else has begun during the placement.
      const started = batches.start(made.order, actor);
      if (!started.ok) return started;
      const { questions, workers, ensemble } = made.order;
      note(
        actor,
        "start batch",
        { subject: request.name, objectId: started.id },
        `${questions} questions through ${ensemble.name} on ${workers.length} workers`,
      );
      if (request.assignmentsUploadId !== undefined) uploads.remove(request.assignmentsUploadId);
      return started;
    },
    /** Starts no more calls; engines stay loaded. */
    pause(id: string, actor: Actor): Outcome<object> {
      const paused = batches.pause(id);
      if (paused.ok) note(actor, "pause batch", { subject: nameOf(id), objectId: id });
      return paused;
    },
    resume(id: string, actor: Actor): Outcome<object> {
      const resumed = batches.resume(id);
      if (resumed.ok) note(actor, "resume batch", { subject: nameOf(id), objectId: id });
      return resumed;
    },
    /** Ends it permanently and unloads its engines; its answers stay. */
    async stop(id: string, actor: Actor): Promise<Outcome<object>> {
      const stopped = await batches.stop(id);
      if (!stopped.ok) return stopped;
      const { left } = stopped;
      const message = `It is stopped. Its engines may still run, and the studio tries on to end them: ${left}`;
      note(actor, "stop batch", { subject: nameOf(id), objectId: id }, left === null ? "" : message);
      return left === null ? { ok: true } : { ok: false, message };
    },
    /** Deletes an ended one, with its answers. */
    remove(id: string, actor: Actor): Outcome<object> {
      const batch = store.batches.summary(id);
      if (batch === null) return { ok: false, message: "There is no such batch." };
      if (batch.endedAt === null) return { ok: false, message: `"${batch.name}" is not over: stop it first.` };
      store.batches.remove(id);
      note(actor, "remove batch", { subject: batch.name, objectId: id }, `${batch.questions} questions with their answers`);
      return { ok: true };
    },
    /** Decided questions, in order of prompts, read lazily; null: no such batch. */
    results: (id: string): Iterable<BatchResult> | null => batches.results(id),
    /**
     * As a job for Kubernetes or Ray, with its prompts; a started batch is exported according to its order, whatever happened to its
     * ensemble since.
     */
    async export(asked: BatchExport, signal: AbortSignal): Promise<Outcome<{ readonly name: string; readonly text: string }>> {
      const settled = await ordered(asked, signal);
      if (!settled.ok) return settled;
      const { order } = settled;
      const connection = store.clusters.get(order.request.clusterId)?.connection ?? null;
      return batchJobFile(order, { format: asked.format, connection, cards: cards.read().catalogue, prompts: store.prompts });
    },
  };
}

function modelsOf(store: Store, name: string): readonly string[] {
  const ensemble = store.ensembles.find(name)?.ensemble;
  return ensemble === undefined ? [] : [...ensemble.experts, ensemble.aggregator.model];
}

/** The effect of starting a batch, from its order. */
function previewOf(order: BatchOrder): BatchPreview {
  const { schedules, workers, questions, notes } = order;
  const gpus = [...gpusByNode(workers)].map(([node, taken]) => ({ node, gpus: taken }));
  return { schedules, gpus, questions, aggregator: aggregatorOf(order), notes };
}

function aggregatorOf({ ensemble, aggregators, aggregatorPredicted }: BatchOrder): BatchPreview["aggregator"] {
  const { loadSeconds, points, expected } = aggregatorPredicted;
  return {
    ...{ model: ensemble.aggregator.model, tp: aggregators[0]?.gpus.length ?? 0, copies: aggregators.length, loadSeconds },
    allSeconds: secondsAtShare(points, 1),
    expected: expected && { ...expected, seconds: secondsAtShare(points, expected.share) },
  };
}
