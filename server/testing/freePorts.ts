import { createServer } from "node:net";

/** Below the ports of outgoing connections on Linux, macOS and Windows, and above those that Ray gives its workers: both would collide. */
const firstPort = 20_000;
const blocks = 100;
const portsPerBlock = 100;

/** Ports that this process has handed out, each of which may not be in use yet. */
const taken = new Set<number>();

/**
 * Finds ports of the loopback address on which nothing listens, for processes that are told their port when they start.
 * Each test process draws from its own block of ports, so that processes that run at the same time seldom draw the same one.
 * @param count how many.
 * @returns so many different ports.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    if (taken.size >= portsPerBlock) taken.clear();
    const port = firstPort + (process.pid % blocks) * portsPerBlock + Math.floor(Math.random() * portsPerBlock);
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** Like `freePorts`, for one port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
