import { randomUUID } from "node:crypto";
import type { CardShelf } from "@/server/cards/cardShelf";
import type { Batch, BatchResult, BatchSummary } from "@/server/contracts/batches";
import type { Outcome } from "@/server/contracts/studio";
import { createDoors } from "@/server/profiling/place";
import type { BatchOrder } from "@/server/store/batchOrder";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { extractionProblem } from "@/solver/ensemble/voteReader";
import type { BatchCluster } from "./batchConnector";
import { batchResults } from "./batchResults";
import { type BatchRun, takeUpBatch } from "./batchRun";
import { batchOfEngine } from "./batchShape";
import { describeBatch } from "./describeBatch";
import { emulationProblem } from "./emulatedWorkload";
import { createEndedBatches } from "./endedBatches";
import { turnByTurn } from "./turnByTurn";

/** Engines of batches that are over are looked for so often, until they are seen to be gone. */
const SWEEP_MS = 2_000;

export interface BatchesParts {
  readonly store: Store;
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => BatchCluster | null;
  readonly cards: Pick<CardShelf, "read">;
  /** Wall milliseconds that an engine may take to answer. */
  readonly loadLimitMs?: number;
}

export type Batches = ReturnType<typeof createBatches>;

type Refusal = { readonly ok: false; readonly message: string };

/** Runs batches of questions through ensembles, one on a cluster at a time. */
export function createBatches(parts: BatchesParts) {
  const { store, clusterOf, cards } = parts;
  const clusterName = (clusterId: string): string => store.clusters.get(clusterId)?.spec.name ?? clusterId;
  /** Each call has a limit of its own. */
  const doors = createDoors(0);
  /** A model without a card of its own is served as its checkpoint is, which is what engines do unless told otherwise. */
  const precisionOf = (model: string) => cards.read().catalogue.models[model]?.precision ?? "bf16";
  const runParts = { ...parts, clusterName, precisionOf, doors, turn: turnByTurn() };
  const runs = new Map<string, BatchRun>();
  const stopping = new Set<Promise<unknown>>();
  /** Clusters on which engines of batches that are over may stand. */
  const unswept = new Set<string>();
  let sweeper: NodeJS.Timeout | undefined;
  const closing = new AbortController();
  const ended = createEndedBatches(runParts, closing.signal);

  const refuse = (message: string): Refusal => ({ ok: false, message });

  function begin(batch: StoredBatch): void {
    runs.set(batch.id, takeUpBatch(batch, runParts));
  }

  /** The run of a batch that is not over. */
  function runOf(id: string): BatchRun | null {
    const run = runs.get(id);
    if (run === undefined || !run.isOver) return run ?? null;
    runs.delete(id);
    ended.add(id, run.standing);
    return null;
  }

  /** What is done to a batch that is not over; refused with a sentence where it is, or does not stand as it must. */
  function act(id: string, wanted: readonly Batch["state"][], what: string): BatchRun | Refusal {
    const batch = store.batches.list().find((one) => one.id === id);
    if (batch === undefined) return refuse("There is no such batch.");
    const run = runOf(id);
    if (run === null || !wanted.includes(run.state))
      return refuse(`"${batch.name}" is ${run?.state ?? batch.state}, so it cannot be ${what}.`);
    return run;
  }

  /** Ends engines of batches that are over: of a studio that was killed while it stopped one, or that could not end them. Tries until it can. */
  async function sweep(clusterIds: readonly string[]): Promise<void> {
    for (const clusterId of clusterIds) unswept.add(clusterId);
    clearTimeout(sweeper);
    try {
      const over = new Set(store.batches.list().flatMap(({ id, endedAt }) => (endedAt === null ? [] : id.slice(0, 8))));
      for (const clusterId of [...unswept]) if (await isSwept(clusterId, over)) unswept.delete(clusterId);
    } finally {
      clearTimeout(sweeper);
      if (unswept.size > 0 && !closing.signal.aborted) sweeper = setTimeout(() => void sweep([]).catch(() => undefined), SWEEP_MS);
    }
  }

  /** Whether no engine of these batches is left on a cluster. */
  async function isSwept(clusterId: string, over: ReadonlySet<string>): Promise<boolean> {
    const host = clusterOf(clusterId)?.host;
    const { signal } = closing;
    const found = await host?.observe({ signal });
    if (host === undefined || found?.ok !== true) return false;
    const left = found.value.engines.filter(({ id }) => over.has(batchOfEngine(id) ?? ""));
    const ended = await Promise.all(left.map(({ id }) => host.stop(id, { signal, report: () => undefined })));
    return ended.every(({ ok }) => ok);
  }

  return {
    /** Begins a batch that was prepared; refused with a sentence where it cannot run now. */
    start(order: BatchOrder, by: string): Outcome<{ readonly id: string }> {
      const { request, ensemble } = order;
      const { clusterId, promptSetId } = request;
      const running = store.batches.runningOn(clusterId);
      if (running !== null) return refuse(`The batch "${running}" runs on ${clusterName(clusterId)}: wait for its end, or stop it.`);
      if (store.applications.open().some((one) => one.clusterId === clusterId))
        return refuse(`A plan is being put into force on ${clusterName(clusterId)}: wait for its end, or abort it.`);
      const cluster = clusterOf(clusterId);
      if (cluster === null) return refuse(`${clusterName(clusterId)} is not connected: attach it, or export a job file.`);
      const unreadable = extractionProblem(ensemble.extraction);
      if (unreadable !== null) return refuse(unreadable);
      const { answer } = cluster.seen();
      if (!answer.ok) return refuse(`${clusterName(clusterId)} cannot be seen: ${answer.message}`);
      const isEmulated = cluster.host.loadOutcomes !== undefined;
      const mute = isEmulated ? emulationProblem(store, answer.value, [...ensemble.experts, ensemble.aggregator.model]) : null;
      if (mute !== null) return refuse(mute);
      const id = randomUUID();
      const row = { id, createdAt: new Date().toISOString(), endedAt: null, actor: by, clusterId, promptSetId, order };
      const batch: StoredBatch = { ...row, state: "running", pause: null };
      store.batches.insert(batch);
      begin(batch);
      return { ok: true, id };
    },
    /** Goes on with what an earlier studio had begun; paused ones stay so. Call once, at start. */
    takeUp(): void {
      for (const batch of store.batches.open()) {
        try {
          begin(batch);
        } catch (error) {
          // One that an older studio wrote in another form must not keep this one from starting.
          process.stderr.write(`The batch ${batch.id} could not be taken up: ${error instanceof Error ? error.message : error}\n`);
        }
      }
      const clusterIds = [...new Set(store.batches.list().flatMap(({ clusterId, endedAt }) => (endedAt === null ? [] : clusterId)))];
      void sweep(clusterIds).catch(() => undefined);
    },
    /** Newest first. */
    list: (): readonly BatchSummary[] =>
      store.batches.list().map((batch) => {
        const run = runOf(batch.id);
        return run === null ? batch : { ...batch, state: run.state, pause: run.pausedFor };
      }),
    /** null: there is none. Of one that is still being read, as far as that is. @throws what the disk throws. */
    get(id: string): Batch | null {
      const run = runOf(id);
      if (run !== null) return describeBatch({ ...run.batch, state: run.state, pause: run.pausedFor }, run.standing);
      const one = ended.get(id);
      return one && describeBatch(one.batch, one.standing);
    },
    pause(id: string): Outcome<object> {
      const run = act(id, ["running"], "paused");
      if ("ok" in run) return run;
      run.pause("operator", "An operator paused it.");
      return { ok: true };
    },
    resume(id: string): Outcome<object> {
      const run = act(id, ["paused"], "resumed");
      if ("ok" in run) return run;
      run.resume();
      return { ok: true };
    },
    /** Resolves when its engines are gone, or with the reason why they are not (`left`): they are then ended as soon as they can be. */
    async stop(id: string): Promise<Outcome<{ readonly left: string | null }>> {
      const run = act(id, ["running", "paused"], "stopped");
      if ("ok" in run) return run;
      const stopped = run.stop();
      stopping.add(stopped);
      const left = await stopped.finally(() => stopping.delete(stopped));
      if (left !== null) void sweep([run.batch.clusterId]).catch(() => undefined);
      return { ok: true, left };
    },
    /** Questions that are decided, in order of prompts, read as they are taken; null: no such batch. */
    results(id: string): Iterable<BatchResult> | null {
      const batch = store.batches.get(id);
      return batch === null ? null : batchResults(batch, store);
    },
    /** Name of the batch that runs on a cluster or is paused there; null: none. */
    runningOn: (clusterId: string): string | null => store.batches.runningOn(clusterId),
    /** Lets go of what runs; the next studio takes it up. */
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(sweeper);
      await Promise.all([...[...runs.values()].map((run) => run.close()), ...stopping]);
      await doors.close();
    },
  };
}
