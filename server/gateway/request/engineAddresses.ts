import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";

/** Where an engine listens, as OpenTelemetry's `server.address` and `server.port`. */
interface EngineAddress {
  readonly address: string;
  readonly port: number;
}

const known = new WeakMap<GatewayConfig, ReadonlyMap<string, EngineAddress>>();

/** The address of an engine of a configuration; undefined if it has none of that id. A user and a password in its URL are left out. */
export function engineAddress(config: GatewayConfig, replicaId: string): EngineAddress | undefined {
  let addresses = known.get(config);
  if (addresses === undefined) {
    addresses = new Map(config.replicas.map(({ id, url }) => [id, addressOf(url)]));
    known.set(config, addresses);
  }
  return addresses.get(replicaId);
}

/** The host and the port that a URL names. */
export function addressOf(url: string): EngineAddress {
  const { hostname, port, protocol } = new URL(url);
  return { address: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
