import { z } from "zod";
import type { Answer } from "@/server/clusters/connector/connector";
import type { KeyReference, SecretUse } from "@/server/contracts/engine/engineAccess";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import { connectionSchema as endpointConnectionSchema } from "@/server/endpoints/connection";
import { oneAddress } from "@/server/engineClient/address";
import { connectionSchema as kubernetesConnectionSchema } from "@/server/kubernetes/connection";
import { connectionSchema as processConnectionSchema } from "@/server/processes/processConnection";
import { connectionSchema as rayConnectionSchema } from "@/server/ray/connection";
import type { ClusterRow } from "@/server/store/clusterRepository";

/** How the studio reaches a cluster's parts, by the kind of cluster. Secrets by reference only. */
export const clusterConnectionSchema = z.discriminatedUnion("kind", [
  endpointConnectionSchema,
  processConnectionSchema,
  kubernetesConnectionSchema,
  rayConnectionSchema,
]);

export type ClusterConnection = z.infer<typeof clusterConnectionSchema>;

/** A stored connection, validated again; the first fault in a sentence if it cannot be used (any more). */
export function readConnection(kept: unknown): Answer<ClusterConnection> {
  const parsed = clusterConnectionSchema.safeParse(kept);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "The connection" : `The connection's ${issue.path.join(".")}`;
  return { ok: false, message: `${field} cannot be used: ${(issue?.message ?? "it does not fit").replace(/\.$/, "")}.` };
}

/**
 * Why a connection cannot be stored together with those of other clusters, in a sentence; null if it can. If two clusters shared an engine,
 * each would plan, drain and count it as if the other sent it nothing.
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

/** URLs of engines that Weir does not start. */
function urlsOf(connection: ClusterConnection): readonly string[] {
  const listed = connection.kind === "endpoints" ? connection.endpoints : connection.kind === "processes" ? connection.adopt : [];
  return listed.map(({ url }) => url);
}

/** The studio's own token, which gateways of an operator have too unless their place names another. */
export const studioToken: KeyReference = { environment: "WEIR_ADMIN_TOKEN" };

/** A key and the address it is for; empty if there is no key. */
export const keyAt = (key: KeyReference | undefined, url: string): readonly SecretUse[] =>
  key === undefined ? [] : [{ key, origin: new URL(url).origin }];

/** The secret of a judge. */
export const judgeUses = (judge: GatewayConfig["judge"]): readonly SecretUse[] =>
  judge?.url === undefined || judge.keyFromEnvironment === undefined ? [] : keyAt({ environment: judge.keyFromEnvironment }, judge.url);

/** The secret of a gateway's admin listener. A gateway that the studio runs gets the studio's token when it is started. */
export const gatewayUses = (gateway: GatewayPlace | null): readonly SecretUse[] =>
  gateway?.runBy === "operator" ? keyAt(gateway.token ?? studioToken, gateway.adminUrl) : [];

/** The secrets that a connection sends, and where. */
export function connectionUses(connection: ClusterConnection): readonly SecretUse[] {
  return [...engineUses(connection), ...judgeUses(connection.judge)];
}

function engineUses(connection: ClusterConnection): readonly SecretUse[] {
  switch (connection.kind) {
    case "endpoints":
      return connection.endpoints.flatMap(({ key, url }) => keyAt(key, url));
    case "processes":
      return connection.adopt.flatMap(({ key, url }) => keyAt(key, url));
    case "kubernetes":
      return [];
    case "ray":
      return keyAt(connection.key, connection.dashboard);
  }
}
