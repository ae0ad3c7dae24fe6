import { createInterface } from "node:readline";
import { endChild, said, startBundle } from "../lib/childProcess";

interface Target {
  readonly url: string;
  /** The body of every request, and headers besides its type and length. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the load generator sends to a gateway. */
export type Load = Target &
  (
    | { readonly kind: "closed"; readonly connections: number; readonly seconds: number; readonly requests?: number }
    | { readonly kind: "open"; readonly perSecond: number; readonly seconds: number }
    /** Streams begin evenly over `spreadMs`. */
    | { readonly kind: "streams"; readonly connections: number; readonly spreadMs: number }
  );

/** Milliseconds are those of requests, or between the parts of a stream that arrive. */
export interface LoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

/** The load generator as a separate process. */
export interface LoadProcess {
  /** Rejects when an answer is not 200, or a connection breaks; the next load is sent by another process. */
  send(load: Load): Promise<LoadResult>;
  close(): Promise<void>;
}

/** Starts it, on one core if given. */
export async function startLoad(core: number | undefined): Promise<LoadProcess> {
  const start = async () => {
    const child = startBundle("loadGenerator", { core });
    await said(child, /ready/);
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error("The load generator has no pipes.");
    return { child, stdin, lines: createInterface({ input: stdout }) };
  };
  let running = await start();
  return {
    async send(load) {
      if (running.child.exitCode !== null) running = await start();
      const { child, stdin, lines } = running;
      return new Promise((resolve, reject) => {
        const gone = (): void => reject(new Error(`The load ${load.kind} on ${load.url} failed.`));
        child.once("exit", gone);
        lines.once("line", (line) => {
          child.off("exit", gone);
          resolve(JSON.parse(line) as LoadResult);
        });
        stdin.write(`${JSON.stringify(load)}\n`);
      });
    },
    close: () => endChild(running.child),
  };
}
