import type { ConnectionPool, Upstream } from "@/server/calls/upstream";
import { awaitEngine, defaultLoadLimitMs } from "@/server/clusters/connector/awaitEngine";
import type { Answer } from "@/server/clusters/connector/connector";
import { batchOfEngine, batchPrefix } from "@/server/contracts/engine/batchEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { ShapedSession } from "./batchShape";

/** The parts of a cluster that a batch needs. */
export type BatchCluster = Pick<ConnectedCluster, "host" | "seen">;

export interface BatchConnectorParts {
  readonly batch: Pick<StoredBatch, "id" | "clusterId" | "order">;
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => BatchCluster | null;
  readonly clusterName: (clusterId: string) => string;
  /** The precision in which a model is served. */
  readonly precisionOf: (model: string) => EngineOrder["precision"];
  readonly connections: ConnectionPool;
  /** Time limit in wall milliseconds for an engine to answer. */
  readonly loadLimitMs?: number;
}

/** An engine that answers. */
export interface LoadedEngine {
  readonly place: Upstream;
  /** Engine seconds from its start until it answered; null: it ran before, so its loading was not fully observed. */
  readonly loadSeconds: number | null;
}

export type BatchConnector = ReturnType<typeof createBatchConnector>;

/** Starts and ends a batch's engines on every kind of host: emulated, as processes, in Kubernetes. Repeating an action changes nothing. */
export function createBatchConnector(parts: BatchConnectorParts) {
  const { batch, clusterOf, clusterName, precisionOf, connections, loadLimitMs = defaultLoadLimitMs } = parts;
  const name = clusterName(batch.clusterId);
  const away = { ok: false, message: `${name} is not connected: attach it again.` } as const;
  const hostNow = () => clusterOf(batch.clusterId)?.host ?? null;
  const options = (signal: AbortSignal) => ({ signal, report: () => undefined, planId: null });

  const orderOf = ({ engineId: id, model, placement }: ShapedSession): EngineOrder => ({
    ...{ id, model, precision: precisionOf(model), gpu: batch.order.gpu },
    ...{ tp: placement.gpus.length, pp: 1, placements: [placement] },
  });

  async function unload(engineId: string, signal: AbortSignal): Promise<Answer<string>> {
    return hostNow()?.stop(engineId, options(signal)) ?? away;
  }

  return {
    name,
    unload,
    /** Starts a session's engine, and waits until it answers. */
    async load(session: ShapedSession, signal: AbortSignal): Promise<Answer<LoadedEngine>> {
      const host = hostNow();
      if (host === null) return away;
      const { engineId: id, model } = session;
      const found = await host.observe({ signal });
      if (!found.ok) return found;
      const standing = found.value.engines.find((one) => one.id === id);
      const cleared = standing?.stopping === true ? await unload(id, signal) : null;
      if (cleared !== null && !cleared.ok) return cleared;
      // The obstacle is gone: the wait for it does not count as its own time.
      const sinceMs = performance.now();
      const started = await host.start(orderOf(session), options(signal));
      if (!started.ok) return started;
      const up = await awaitEngine(host, { id, model }, { ...options(signal), limitMs: loadLimitMs });
      if (!up.ok) {
        // Otherwise the next attempt would find an engine that never answers.
        await unload(id, signal);
        return up;
      }
      const wallSeconds = (performance.now() - sinceMs) / 1000;
      const now = await host.observe({ signal });
      if (!now.ok) return now;
      const engine = now.value.engines.find((one) => one.id === id);
      if (engine === undefined) return { ok: false, message: `${id} was up and is gone.` };
      const { url, access: { key, caFile, servedName = model } = {} } = engine;
      const place: Upstream = {
        ...{ id, url: `${url}/v1/chat/completions`, dispatcher: connections.to(url, { key, caFile }), servedName },
        ...{ timeScale: now.value.timeScale, engine: id },
      };
      const isFresh = standing === undefined || cleared !== null;
      return { ok: true, value: { place, loadSeconds: isFresh ? wallSeconds * now.value.timeScale : null } };
    },
    /** Ends running engines of this batch that are not needed. */
    async sweep(isNeeded: (engineId: string) => boolean, signal: AbortSignal): Promise<Answer<string>> {
      const found = (await hostNow()?.observe({ signal })) ?? away;
      if (!found.ok) return found;
      const left = found.value.engines.filter(({ id }) => batchOfEngine(id) === batchPrefix(batch.id) && !isNeeded(id));
      const ended = await Promise.all(left.map(({ id }) => unload(id, signal)));
      return ended.find(({ ok }) => !ok) ?? { ok: true, value: `${left.length} engines ended` };
    },
    /**
     * Loads a workload's prompts into emulated engines that have none.
     * @param workloadWith one that has answers of all these models.
     */
    async giveOutcomes(workloadWith: () => string | null, signal: AbortSignal): Promise<Answer<string>> {
      const host = hostNow();
      if (host === null) return away;
      if (host.loadOutcomes === undefined) return { ok: true, value: "engines are real" };
      const found = await host.observe({ signal });
      if (!found.ok) return found;
      if (found.value.outcomes !== null) return { ok: true, value: "there are some" };
      const workloadId = workloadWith();
      if (workloadId === null)
        return { ok: false, message: "Its emulated engines have no prompts to replay, and no workload has all of the batch's models." };
      return host.loadOutcomes(workloadId, options(signal));
    },
  };
}
