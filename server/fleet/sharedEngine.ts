import { oneAddress } from "@/server/engineClient/address";
import type { ClusterRow } from "@/server/store/clusterRepository";
import { type ClusterConnection, readConnection } from "./connection";

/**
 * Why a connection cannot be kept beside those of other clusters, in a sentence; null where it can. An engine that two clusters have is
 * planned, drained and counted by each as if the other sent it nothing.
 */
export function sharedEngine(connection: ClusterConnection, others: readonly Pick<ClusterRow, "spec" | "connection">[]): string | null {
  const own = urlsOf(connection);
  for (const other of others) {
    const read = readConnection(other.connection);
    const theirs = new Set(read.ok ? urlsOf(read.value).map(oneAddress) : []);
    const shared = own.find((url) => theirs.has(oneAddress(url)));
    if (shared !== undefined) return `The engine at ${shared} is ${other.spec.name}'s: an engine is of one cluster.`;
  }
  return null;
}

/** Where engines are that Weir does not start. */
function urlsOf(connection: ClusterConnection): readonly string[] {
  const listed = connection.kind === "endpoints" ? connection.endpoints : connection.kind === "processes" ? connection.adopt : [];
  return listed.map(({ url }) => url);
}
