import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports of outgoing connections on Linux, macOS and Windows, and above those that Ray gives its workers: both would collide. */
const range = { from: 20_000, to: 29_999 };

/**
 * Free ports of the loopback address, for processes that get their port at the start.
 * @param count how many.
 * @returns `count` different ports, drawn at random, so that concurrent test processes rarely draw the same one.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = range.from + Math.floor(Math.random() * (range.to - range.from + 1));
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** Like `freePorts`, for one port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const listens = await Promise.race([once(server, "listening").then(() => true), once(server, "error").then(() => false)]);
  if (listens) await new Promise((closed) => server.close(closed));
  return listens;
}
