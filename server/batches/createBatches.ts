import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createConnectionPool } from "@/server/calls/upstream";
import type { CardStore } from "@/server/cards/cardStore";
import { claimOnCluster } from "@/server/clusters/apply/claims";
import type { Outcome } from "@/server/contracts/studio";
import type { Batch, BatchResult, BatchSummary } from "@/server/contracts/studio/batches";
import { pauseReason } from "@/server/lib/jobState";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { extractionProblem } from "@/solver/ensemble/gate/voteReader";
import type { BatchCluster } from "./batchConnector";
import { batchResults } from "./batchResults";
import { type BatchRun, resumeBatch } from "./batchRun";
import { describeBatch } from "./describeBatch";
import { emulationProblem } from "./emulatedWorkload";
import { createEndedBatches } from "./endedBatches";
import { createEngineSweeper } from "./engineSweeper";

/**
 * Waits for a turn of the event loop that no other caller gets, so that work in pieces blocks it for one piece at a time, however much work
 * there is.
 */
function fairTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}

export interface BatchesParts {
  readonly store: Store;
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => BatchCluster | null;
  readonly cards: Pick<CardStore, "read">;
  /** Time limit in wall milliseconds for an engine to answer. */
  readonly loadLimitMs?: number;
}

export type Batches = ReturnType<typeof createBatches>;

type Refusal = { readonly ok: false; readonly message: string };

/** Runs batches of questions through ensembles, one at a time per cluster. */
export function createBatches(parts: BatchesParts) {
  const { store, clusterOf, cards } = parts;
  const clusterName = (clusterId: string): string => store.clusters.get(clusterId)?.spec.name ?? clusterId;
  /** Each call has its own time limit. */
  const connections = createConnectionPool(0);
  /** A model without its own card is served in its checkpoint's precision, the default of engines. */
  const precisionOf = (model: string) => cards.read().catalogue.models[model]?.precision ?? "bf16";
  const runParts = { ...parts, clusterName, precisionOf, connections, turn: fairTurns() };
  const runs = new Map<string, BatchRun>();
  /** Open batches that could not be resumed, with the reason, by id. */
  const stuck = new Map<string, NonNullable<Batch["pause"]>>();
  /** By id. */
  const stopping = new Map<string, Promise<unknown>>();
  const sweeper = createEngineSweeper(clusterOf);
  const closing = new AbortController();
  const ended = createEndedBatches(runParts, closing.signal);

  const refuse = (message: string): Refusal => ({ ok: false, message });

  /**
   * A batch that cannot be resumed, because an older studio wrote it in another form or the disk cannot be read, is paused with the reason.
   */
  function begin(batch: StoredBatch): void {
    try {
      runs.set(batch.id, resumeBatch(batch, runParts));
      stuck.delete(batch.id);
    } catch (error) {
      stuck.set(batch.id, { kind: "problem", reason: pauseReason(error, "batch"), since: new Date().toISOString() });
    }
  }

  /** The run of a batch that has not ended. */
  function runOf(id: string): BatchRun | null {
    const run = runs.get(id);
    if (run === undefined || !run.isOver) return run ?? null;
    runs.delete(id);
    ended.add(id, run.standing);
    return null;
  }

  /** The state of a batch. */
  function standOf(batch: BatchSummary): Pick<BatchSummary, "state" | "pause"> {
    const run = runOf(batch.id);
    if (run !== null) return { state: run.state, pause: run.pausedFor };
    const pause = stuck.get(batch.id);
    return pause === undefined ? batch : { state: "paused", pause };
  }

  /** A batch for an action; refused with a sentence if it is not in a required state. */
  function actOn(id: string, wanted: readonly Batch["state"][], what: string): Outcome<{ readonly batch: BatchSummary }> {
    const batch = store.batches.summary(id);
    if (batch === null) return refuse("There is no such batch.");
    if (stopping.has(id)) return refuse(`"${batch.name}" is being stopped, so it cannot be ${what}.`);
    const { state } = standOf(batch);
    return wanted.includes(state) ? { ok: true, batch } : refuse(`"${batch.name}" is ${state}, so it cannot be ${what}.`);
  }

  /** Resolves when its engines are gone, or with the reason why they may remain. */
  async function end({ id, clusterId }: BatchSummary): Promise<string | null> {
    const run = runOf(id);
    if (run === null) {
      store.batches.setState(id, "stopped", null);
      stuck.delete(id);
      return sweeper.sweep(clusterId, [id]);
    }
    const left = await run.stop();
    if (left !== null) void sweeper.sweep(clusterId, [id]);
    return left;
  }

  return {
    /** Starts a prepared batch; refused with a sentence if it cannot run now. */
    start(order: BatchOrder, by: string): Outcome<{ readonly id: string }> {
      const { request, ensemble } = order;
      const { clusterId, promptSetId } = request;
      const claim = claimOnCluster(clusterId, store);
      if (claim !== null) return refuse(claim);
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
    /** Continues what an earlier studio had begun; paused ones stay paused. Call once, at start. */
    resumeAll(): void {
      for (const batch of store.batches.open()) begin(batch);
      for (const { spec } of store.clusters.list()) {
        const over = store.batches.overOn(spec.id);
        if (over.length > 0) void sweeper.sweep(spec.id, over);
      }
    },
    /** Newest first. */
    list: (): readonly BatchSummary[] => store.batches.list().map((batch) => ({ ...batch, ...standOf(batch) })),
    /**
     * null: there is none. For one that is still being read, the part that was read.
     * @throws the disk's errors, and for one that cannot be resumed the reason.
     */
    get(id: string): Batch | null {
      const run = runOf(id);
      if (run !== null) return describeBatch({ ...run.batch, state: run.state, pause: run.pausedFor }, run.standing);
      const pause = stuck.get(id);
      if (pause !== undefined) throw new Error(pause.reason);
      const one = ended.get(id);
      return one && describeBatch(one.batch, one.standing);
    },
    pause(id: string): Outcome<object> {
      const asked = actOn(id, ["running"], "paused");
      if (!asked.ok) return asked;
      runOf(id)?.pause("operator", "An operator paused it.");
      return { ok: true };
    },
    /** Resumes one that could not be resumed; refused with the reason if it still cannot be. */
    resume(id: string): Outcome<object> {
      const asked = actOn(id, ["paused"], "resumed");
      if (!asked.ok) return asked;
      const batch = stuck.has(id) ? store.batches.get(id) : null;
      if (batch !== null) begin(batch);
      const pause = stuck.get(id);
      if (pause !== undefined) return refuse(pause.reason);
      const run = runOf(id);
      if (run?.state === "paused") run.resume();
      return { ok: true };
    },
    /**
     * Resolves when its engines are gone, or with the reason why they are not (`left`): they are then ended as soon as possible.
     * @throws the disk's errors.
     */
    async stop(id: string): Promise<Outcome<{ readonly left: string | null }>> {
      const asked = actOn(id, ["running", "paused"], "stopped");
      if (!asked.ok) return asked;
      const stopped = end(asked.batch);
      stopping.set(id, stopped);
      return { ok: true, left: await stopped.finally(() => stopping.delete(id)) };
    },
    /** Decided questions, in order of prompts, read lazily; null: no such batch. */
    results(id: string): Iterable<BatchResult> | null {
      const batch = store.batches.get(id);
      return batch === null ? null : batchResults(batch, store);
    },
    /** Detaches from running batches; the next studio resumes them. */
    async close(): Promise<void> {
      closing.abort();
      sweeper.close();
      // The caller of a stop gets the reason why it failed.
      await Promise.all([...[...runs.values()].map((run) => run.close()), Promise.allSettled(stopping.values())]);
      await connections.close();
    },
  };
}
