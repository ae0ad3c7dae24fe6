import { freePort as firstFreePort } from "../lib/freePort";

/** Below the ports of outgoing connections on Linux, macOS and Windows, and above those that Ray gives its workers: both would collide. */
const firstPort = 20_000;
const blocks = 100;
const portsPerBlock = 100;

/** Ports that this process has handed out, each of which may not be in use yet. */
const taken = new Set<number>();

/**
 * Finds ports on which nothing listens, for processes that are told their port when they start.
 * Each test process draws from its own block of ports, so that processes that run at the same time seldom draw the same one.
 * @param count how many.
 * @returns so many different ports.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** Like `freePorts`, for one port. Throws when no port of the block is free. */
export async function freePort(): Promise<number> {
  let port = await draw();
  if (port === null) {
    taken.clear();
    port = await draw();
  }
  if (port === null) throw new Error("No port of this process is free.");
  taken.add(port);
  return port;
}

/** A free port of the block at or after a random one; null when there is none that was not handed out. */
async function draw(): Promise<number | null> {
  const from = firstPort + (process.pid % blocks) * portsPerBlock;
  const to = from + portsPerBlock - 1;
  const drawn = from + Math.floor(Math.random() * portsPerBlock);
  return (await firstFreePort({ from: drawn, to }, taken)) ?? (await firstFreePort({ from, to }, taken));
}
