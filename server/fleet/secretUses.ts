import type { KeyReference, SecretUse } from "@/server/contracts/engine/engineAccess";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import type { ClusterConnection } from "./connection";

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
