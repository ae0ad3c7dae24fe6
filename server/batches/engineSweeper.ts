import type { Store } from "@/server/store/store";
import type { BatchCluster } from "./batchConnector";
import { batchOfEngine, batchPrefix } from "./batchShape";

/** How often a cluster is looked at where engines of batches that are over may stand. */
export const SWEEP_MS = 2_000;

export interface SweeperParts {
  readonly store: { readonly batches: Pick<Store["batches"], "overOn"> };
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => BatchCluster | null;
}

/** Ends engines of batches that are over: of a studio that was killed while it stopped one, or that could not end them. */
export function createEngineSweeper({ store, clusterOf }: SweeperParts) {
  const timers = new Map<string, NodeJS.Timeout>();
  const closing = new AbortController();
  const { signal } = closing;

  /** Why such engines may stand on a cluster; null: none does. */
  async function sweepOnce(clusterId: string): Promise<string | null> {
    // What is not connected costs no more than this look, for however long.
    const host = clusterOf(clusterId)?.host;
    if (host === undefined) return "The cluster is not connected: attach it again.";
    const over = new Set(store.batches.overOn(clusterId).map(batchPrefix));
    const found = await host.observe({ signal });
    if (!found.ok) return found.message;
    const left = found.value.engines.filter(({ id }) => over.has(batchOfEngine(id) ?? ""));
    const ended = await Promise.all(left.map(({ id }) => host.stop(id, { signal, report: () => undefined })));
    return ended.find((one) => !one.ok)?.message ?? null;
  }

  /** Resolves after the first try with why engines may be left, null where none is; then tries until none is. */
  async function sweep(clusterId: string): Promise<string | null> {
    const why = await sweepOnce(clusterId).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    clearTimeout(timers.get(clusterId));
    if (why === null || signal.aborted) timers.delete(clusterId);
    else
      timers.set(
        clusterId,
        setTimeout(() => void sweep(clusterId), SWEEP_MS),
      );
    return why;
  }

  return {
    sweep,
    close(): void {
      closing.abort();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
