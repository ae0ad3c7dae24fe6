import { createServer } from "node:net";

/** The ports of a studio on this machine, each overridable by its environment variable. */
const portVariables = {
  WEIR_STUDIO_PORT: 4600,
  WEIR_GATEWAY_PORT: 4610,
  WEIR_GATEWAY_ADMIN_PORT: 4611,
  WEIR_EMULATOR_PORT: 4620,
  WEIR_DCGM_PORT: 4621,
};

/** First port of the emulated engines; they count up from it and skip ports in use. */
export const enginePortBase = 4630;

const isFree = (port) =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

/**
 * Reads the ports from the environment and checks that each can be listened on.
 * @returns {Promise<{ports: Record<string, number>} | {problem: string}>} the ports, or one sentence about the obstacle.
 */
export async function choosePorts(environment = process.env) {
  const ports = {};
  for (const [variable, usual] of Object.entries(portVariables)) {
    const port = Number(environment[variable] ?? usual);
    if (!Number.isInteger(port) || port < 1 || port > 65535)
      return { problem: `${variable} is "${environment[variable]}": give a port from 1 to 65535.` };
    const same = Object.keys(ports).find((other) => ports[other] === port);
    if (same !== undefined) return { problem: `${same} and ${variable} are both ${port}: give each its own port.` };
    ports[variable] = port;
  }
  for (const [variable, port] of Object.entries(ports)) {
    if (!(await isFree(port))) return { problem: `Port ${port} is taken: end what listens there, or set ${variable} to another port.` };
  }
  return { ports };
}

/** The host of the address that the studio listens on, as this machine reaches it: loopback unless another address is given. */
export function studioHost(address = process.env.WEIR_STUDIO_ADDRESS) {
  if (address === undefined || ["", "0.0.0.0"].includes(address)) return "127.0.0.1";
  const host = address.includes(":") ? `[${address}]` : address;
  return URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname !== "[::]" ? host : "127.0.0.1";
}
