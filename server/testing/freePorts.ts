import { createServer, type Server } from "node:net";
import { freePort as firstFreePort } from "../lib/freePort";

/** Below the ports of outgoing connections on Linux, macOS and Windows, and above those that Ray gives its workers: both would collide. */
const firstPort = 20_000;
const blocks = 100;
const portsPerBlock = 100;

/** Ports that this process has handed out, each of which may not be in use yet. */
const taken = new Set<number>();

interface Block {
  readonly from: number;
  readonly to: number;
}
let block: Promise<Block> | undefined;

/**
 * Finds ports on which nothing listens, for processes that are told their port when they start. Each test process has its own block of
 * ports: a port whose process is killed and started again stays free until then.
 * @param count how many.
 * @returns so many different ports, in ascending order: engines whose ports count up from the last take none of the others.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports.sort((a, b) => a - b);
}

/** Like `freePorts`, for one port. Throws when no port of the block is free. */
export async function freePort(): Promise<number> {
  block ??= ownBlock();
  const own = await block;
  let port = await draw(own);
  if (port === null) {
    taken.clear();
    port = await draw(own);
  }
  if (port === null) throw new Error("No port of this process is free.");
  taken.add(port);
  return port;
}

/** A free port of the block at or after a random one; null when there is none that was not handed out. */
async function draw({ from, to }: Block): Promise<number | null> {
  const drawn = from + Math.floor(Math.random() * (to - from + 1));
  return (await firstFreePort({ from: drawn, to }, taken)) ?? (await firstFreePort({ from, to }, taken));
}

/** A block that no other process has: its process listens on the first port as long as it lives. */
async function ownBlock(): Promise<Block> {
  for (let tried = 0; tried < blocks; tried += 1) {
    const first = firstPort + ((process.pid + tried) % blocks) * portsPerBlock;
    if (await held(first)) return { from: first + 1, to: first + portsPerBlock - 1 };
  }
  throw new Error("Every block of ports has a process.");
}

/** Listens on a port without keeping the process from ending; false where another listens. */
function held(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const lock: Server = createServer((socket) => socket.destroy());
    lock.once("error", () => resolve(false));
    lock.listen(port, "127.0.0.1", () => resolve(true)).unref();
  });
}
