// Gateways of attached clusters: the studio lists the required ones on its output, and they outlive it.
import { join } from "node:path";
import { root, say } from "./prepare.mjs";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const isPort = (value) => Number.isInteger(value) && value >= 1024 && value <= 65_535;

/**
 * Reads a line of the studio.
 * @returns {{ run: { clusterId: string, port: number, adminPort: number } } | { end: string } | null} null: it is not about a gateway, or
 * malformed.
 */
export function readGatewayLine(line, stateDir) {
  if (line.startsWith("GATEWAY-END ")) {
    const clusterId = line.slice("GATEWAY-END ".length);
    return uuid.test(clusterId) ? { end: clusterId } : null;
  }
  if (!line.startsWith("GATEWAY ")) return null;
  let said;
  try {
    said = JSON.parse(line.slice("GATEWAY ".length));
  } catch {
    return null;
  }
  const { clusterId, port, adminPort, ...rest } = said ?? {};
  if (typeof clusterId !== "string" || !uuid.test(clusterId)) return null;
  if (!isPort(port) || !isPort(adminPort) || port === adminPort) return null;
  if (rest.stateDir !== join(stateDir, "clusters", clusterId) || Object.keys(rest).length !== 1) return null;
  return { run: { clusterId, port, adminPort } };
}

/**
 * Runs a gateway for each cluster that the studio names, once; a running one is left alone, also when a restarted studio names it again.
 */
export function createGateways({ supervisor, environment, stateDir }) {
  const running = new Map();
  /** A gateway's ports are free, and its state is written, only after the previous process has ended. */
  const ending = new Map();

  async function run(gateway) {
    const { clusterId, port, adminPort } = gateway;
    if (running.has(clusterId)) return;
    running.set(clusterId, gateway);
    void supervisor.end(nameOf(clusterId));
    await ending.get(clusterId);
    if (running.get(clusterId) !== gateway) return;
    say(`Starting the gateway of cluster ${clusterId} on port ${port}.`);
    supervisor.start({
      name: nameOf(clusterId),
      args: [join(root, "dist", "gateway.mjs")],
      isSpare: true,
      log: join(stateDir, "clusters", clusterId, "gateway.log"),
      environment: {
        ...environment,
        WEIR_GATEWAY_PORT: String(port),
        WEIR_GATEWAY_ADMIN_PORT: String(adminPort),
        WEIR_STATE_DIR: join(stateDir, "clusters", clusterId),
        WEIR_CLUSTER_ID: clusterId,
      },
    });
  }

  return {
    /** @returns {boolean} whether the line was about a gateway. */
    take(line) {
      const order = readGatewayLine(line, stateDir);
      if (order === null) return false;
      if ("run" in order) void run(order.run);
      else if (running.delete(order.end))
        ending.set(order.end, Promise.all([ending.get(order.end), supervisor.end(nameOf(order.end), { patiently: true })]));
      return true;
    },
  };
}

const nameOf = (clusterId) => `gateway of cluster ${clusterId}`;
