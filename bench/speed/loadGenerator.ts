import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { quantile } from "@/solver/numeric/quantile";
import type { Load, LoadResult } from "./load";

/**
 * Sends chat requests, run as a separate process. It writes requests whose bytes are made beforehand to bare sockets and reads no more of an
 * answer than where it ends, so that it takes little of the core that it shares with the upstream. Reads one load a line from its standard
 * input, and prints one result for each.
 */
const headEnd = "\r\n\r\n";
const chunkedEnd = "0\r\n\r\n";
/** Connections of an open loop at most; a gateway that holds more requests is overloaded. */
const mostConnections = 1024;

interface Asking {
  readonly onPiece?: (() => void) | undefined;
  readonly onEnd: () => void;
}

/** A connection that carries one request at a time. */
class Connection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #received = "";
  /** Where the answer under way ends; null before its head is whole, -1: at its last chunk. */
  #end: number | null = null;
  #asking: Asking | null = null;

  constructor({ url, body, headers = {} }: Load) {
    const { hostname, port } = new URL(url);
    const lines = Object.entries({ host: `${hostname}:${port}`, "content-type": "application/json", ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.#request = Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(body)}${headEnd}${body}`);
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.on("error", fail);
    this.#socket.on("close", () => this.#asking !== null && fail(new Error("A connection was closed before its answer was whole.")));
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk.toString("latin1")));
  }

  ask(asking: Asking): void {
    this.#received = "";
    this.#end = null;
    this.#asking = asking;
    this.#socket.write(this.#request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: string): void {
    this.#received += chunk;
    const before = this.#end;
    this.#end ??= this.#endOf();
    if (before !== null) this.#asking?.onPiece?.();
    if (this.#end === null) return;
    const isWhole = this.#end >= 0 ? this.#received.length >= this.#end : this.#received.endsWith(chunkedEnd);
    if (!isWhole) return;
    const asking = this.#asking;
    this.#asking = null;
    asking?.onEnd();
  }

  #endOf(): number | null {
    const at = this.#received.indexOf(headEnd);
    if (at < 0) return null;
    const head = this.#received.slice(0, at);
    if (!head.startsWith("HTTP/1.1 200")) fail(new Error(`A request was answered: ${this.#received.slice(0, 500)}`));
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    return length === undefined ? -1 : at + headEnd.length + Number(length);
  }
}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

const resultOf = (ms: readonly number[], startedMs: number): LoadResult => ({
  ...{ count: ms.length, seconds: (performance.now() - startedMs) / 1000 },
  ...{ p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) },
});

/** Each connection asks again as soon as it is answered. */
async function closedLoop(load: Extract<Load, { kind: "closed" }>): Promise<LoadResult> {
  const { connections, seconds, requests = Number.POSITIVE_INFINITY } = load;
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  let asked = 0;
  const client = (): Promise<void> =>
    new Promise((resolve) => {
      const connection = new Connection(load);
      const next = (): void => {
        const sentMs = performance.now();
        if (asked >= requests || sentMs - startedMs >= seconds * 1000) {
          connection.close();
          resolve();
          return;
        }
        asked += 1;
        const onEnd = (): void => {
          latenciesMs.push(performance.now() - sentMs);
          next();
        };
        connection.ask({ onEnd });
      };
      next();
    });
  await Promise.all(Array.from({ length: connections }, client));
  return resultOf(latenciesMs, startedMs);
}

/** Sends at a fixed rate, whether or not earlier requests were answered. */
async function openLoop(load: Extract<Load, { kind: "open" }>): Promise<LoadResult> {
  const { perSecond, seconds } = load;
  const idle: Connection[] = [];
  let inFlight = 0;
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      const connection = idle.pop() ?? new Connection(load);
      inFlight += 1;
      if (inFlight > mostConnections) fail(new Error("The gateway does not keep up with the rate."));
      const sentMs = performance.now();
      const onEnd = (): void => {
        latenciesMs.push(performance.now() - sentMs);
        idle.push(connection);
        inFlight -= 1;
        resolve();
      };
      connection.ask({ onEnd });
    });
  // Opened before the first measured request, like those of clients with continuous traffic.
  await Promise.all(Array.from({ length: 32 }, send));
  latenciesMs.length = 0;
  const startedMs = performance.now();
  for (let index = 0; index < perSecond * seconds; ) {
    // Sleeping leaves the core to the upstream; a request may be sent a millisecond late.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; index < perSecond * seconds && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) pending.push(send());
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return resultOf(latenciesMs, startedMs);
}

/** So many streams at once, each once; measures the times between what arrives of one stream. */
async function streams(load: Extract<Load, { kind: "streams" }>): Promise<LoadResult> {
  const { connections, spreadMs } = load;
  const gapsMs: number[] = [];
  const startedMs = performance.now();
  const stream = async (index: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, (index * spreadMs) / connections));
    const connection = new Connection(load);
    let lastMs: number | null = null;
    const onPiece = (): void => {
      const nowMs = performance.now();
      if (lastMs !== null) gapsMs.push(nowMs - lastMs);
      lastMs = nowMs;
    };
    await new Promise<void>((resolve) => connection.ask({ onPiece, onEnd: resolve }));
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => stream(index)));
  return resultOf(gapsMs, startedMs);
}

function run(load: Load): Promise<LoadResult> {
  if (load.kind === "closed") return closedLoop(load);
  return load.kind === "open" ? openLoop(load) : streams(load);
}

createInterface({ input: process.stdin })
  .on("line", (line) => void run(JSON.parse(line)).then((result) => process.stdout.write(`${JSON.stringify(result)}\n`)))
  .on("close", () => process.exit(0));
process.stdout.write("ready\n");
