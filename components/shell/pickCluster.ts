import type { ClusterSummary } from "@/server/contracts/studio";

type Known = Pick<ClusterSummary, "health" | "emulated"> & { readonly spec: Pick<ClusterSummary["spec"], "id"> };

const isConnected = ({ health }: Known): boolean => health.state !== "not-connected";

/**
 * A page's current cluster: the one that the address names; else the last displayed one; else the first whose engines are real;
 * else the first that is connected; else the first. null where there is none.
 *
 * @param named in the address. @param last the last displayed cluster; either may be null, or a cluster that no longer exists.
 */
export function pickCluster<Cluster extends Known>(
  clusters: readonly Cluster[],
  { named, last }: { readonly named: string | null; readonly last: string | null },
): Cluster | null {
  const called = (id: string | null) => (id === null ? undefined : clusters.find(({ spec }) => spec.id === id));
  const connected = clusters.filter(isConnected);
  return called(named) ?? called(last) ?? connected.find(({ emulated }) => !emulated) ?? connected[0] ?? clusters[0] ?? null;
}

/** Whether the address has to name the current cluster, because it is ambiguous. */
export const isChoice = (clusters: readonly Known[]): boolean => clusters.filter(isConnected).length > 1;

/** The first cluster with real engines, where the current one is emulated; null where it is not, or there is none. */
export const realBeside = <Cluster extends Known>(clusters: readonly Cluster[], spoken: Known): Cluster | null =>
  spoken.emulated ? (clusters.find((cluster) => isConnected(cluster) && !cluster.emulated) ?? null) : null;
