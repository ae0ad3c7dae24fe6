import { z } from "zod";
import type { Answer } from "@/server/clusters/connector/connector";
import { connectionSchema as endpointConnectionSchema } from "@/server/endpoints/connection";
import { oneAddress } from "@/server/engineClient/address";
import { connectionSchema as kubernetesConnectionSchema } from "@/server/kubernetes/connection";
import { connectionSchema as processConnectionSchema } from "@/server/processes/processConnection";
import { connectionSchema as rayConnectionSchema } from "@/server/ray/connection";
import type { ClusterRow } from "@/server/store/clusterRepository";

/** How the studio reaches what a cluster is made of, by the kind of cluster. Secrets by reference only. */
export const clusterConnectionSchema = z.discriminatedUnion("kind", [
  endpointConnectionSchema,
  processConnectionSchema,
  kubernetesConnectionSchema,
  rayConnectionSchema,
]);

export type ClusterConnection = z.infer<typeof clusterConnectionSchema>;

/** A connection as it is kept, checked anew; the first fault in a sentence where it cannot be used (any more). */
export function readConnection(kept: unknown): Answer<ClusterConnection> {
  const parsed = clusterConnectionSchema.safeParse(kept);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "The connection" : `The connection's ${issue.path.join(".")}`;
  return { ok: false, message: `${field} cannot be used: ${(issue?.message ?? "it does not fit").replace(/\.$/, "")}.` };
}

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
