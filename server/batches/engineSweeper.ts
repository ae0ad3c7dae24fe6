import { batchOfEngine, batchPrefix } from "@/server/contracts/engine/batchEngines";
import { reasonOf } from "@/server/lib/reasonOf";
import type { BatchCluster } from "./batchConnector";

/** Interval between observations of a cluster on which engines of ended batches may run. */
export const SWEEP_MS = 2_000;

/**
 * Ends engines of ended batches, left by a studio that was killed while it stopped one, or that could not end them.
 *
 * @param clusterOf null: the studio is not connected to it.
 */
export function createEngineSweeper(clusterOf: (clusterId: string) => BatchCluster | null) {
  const timers = new Set<NodeJS.Timeout>();
  const closing = new AbortController();
  const { signal } = closing;

  /** Why such engines may run on a cluster; null: none does. */
  async function sweepOnce(clusterId: string, over: ReadonlySet<string>): Promise<string | null> {
    // A cluster that is not connected costs no more than this check.
    const host = clusterOf(clusterId)?.host;
    if (host === undefined) return "The cluster is not connected: attach it again.";
    const found = await host.observe({ signal });
    if (!found.ok) return found.message;
    const left = found.value.engines.filter(({ id }) => over.has(batchOfEngine(id) ?? ""));
    const ended = await Promise.all(left.map(({ id }) => host.stop(id, { signal, report: () => undefined })));
    return ended.find((one) => !one.ok)?.message ?? null;
  }

  async function tryOn(clusterId: string, over: ReadonlySet<string>): Promise<string | null> {
    const why = await sweepOnce(clusterId, over).catch(reasonOf);
    if (why === null || signal.aborted) return why;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void tryOn(clusterId, over);
    }, SWEEP_MS);
    timers.add(timer);
    return why;
  }

  return {
    /**
     * Resolves after the first attempt with the reason why engines of these batches may remain, null if none do; then retries until none
     * remain, whatever happens to the batches.
     */
    sweep: (clusterId: string, batchIds: readonly string[]): Promise<string | null> => tryOn(clusterId, new Set(batchIds.map(batchPrefix))),
    close(): void {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
