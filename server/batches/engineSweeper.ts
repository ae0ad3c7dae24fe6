import { batchOfEngine, batchPrefix } from "@/server/contracts/engine/batchEngines";
import { reasonOf } from "@/server/lib/reasonOf";
import type { BatchCluster } from "./batchConnector";

/** How often a cluster is looked at where engines of batches that are over may stand. */
export const SWEEP_MS = 2_000;

/**
 * Ends engines of batches that are over: of a studio that was killed while it stopped one, or that could not end them.
 *
 * @param clusterOf null: the studio is not connected to it.
 */
export function createEngineSweeper(clusterOf: (clusterId: string) => BatchCluster | null) {
  const timers = new Set<NodeJS.Timeout>();
  const closing = new AbortController();
  const { signal } = closing;

  /** Why such engines may stand on a cluster; null: none does. */
  async function sweepOnce(clusterId: string, over: ReadonlySet<string>): Promise<string | null> {
    // What is not connected costs no more than this look, for however long.
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
    /** Resolves after the first try with why engines of these batches may be left, null where none is; then tries until none is, whatever becomes of the batches. */
    sweep: (clusterId: string, batchIds: readonly string[]): Promise<string | null> => tryOn(clusterId, new Set(batchIds.map(batchPrefix))),
    close(): void {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
