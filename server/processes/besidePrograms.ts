import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { engineEnvironment, type Variables } from "./engineEnvironment";
import { openEngineLog, trimEngineLog } from "./engineLog";
import type { ProcessConnection } from "./processConnection";
import type { ProcessTable } from "./processIdentity";

/** A program that ends at once is started again no sooner. */
const AGAIN_MS = 5_000;

const suffix = ".log";

export interface BesideParts {
  /** Folder of this cluster's engines; programs have a folder in it. */
  readonly folder: string;
  readonly environment: Variables;
  readonly table: ProcessTable;
}

/** Programs that run beside the engines of a cluster. */
export interface BesidePrograms {
  /** Starts those that do not run, and ends those that the connection no longer lists. */
  keep(): void;
  /** Ends all of them, also those that an earlier studio started. */
  release(): void;
}

/**
 * The programs of a connection. They survive the studio and are found again by the log that each writes and no other process has open. One
 * whose command changed is ended and started anew.
 */
export function createBesidePrograms(
  { beside, environment: declared }: Pick<ProcessConnection, "beside" | "environment">,
  { folder, environment, table }: BesideParts,
): BesidePrograms {
  const own = join(folder, "beside");
  const logOf = (name: string): string => join(own, `${name}${suffix}`);
  const commandOf = (name: string): string => join(own, `${name}.json`);
  const pids = new Map<string, { readonly pid: number; readonly start: string | null }>();
  const triedMs = new Map<string, number>();

  function runs(name: string): boolean {
    const known = pids.get(name);
    if (known !== undefined && known.start !== null && table.startOf(known.pid) === known.start) return true;
    const [pid] = table.writersOf(logOf(name));
    if (pid === undefined) pids.delete(name);
    else pids.set(name, { pid, start: table.startOf(pid) });
    return pid !== undefined;
  }

  function start(name: string, [program = "", ...args]: readonly string[]): void {
    triedMs.set(name, Date.now());
    const variables = engineEnvironment(declared, environment, []);
    if (!variables.ok) return;
    mkdirSync(own, { recursive: true, mode: 0o700 });
    writeFileSync(commandOf(name), JSON.stringify([program, ...args]), { mode: 0o600 });
    const output = openEngineLog(logOf(name));
    try {
      const child = spawn(/* turbopackIgnore: true */ program, args, {
        env: variables.value as NodeJS.ProcessEnv,
        stdio: ["ignore", output, output],
        detached: true,
      });
      // A missing program; the next look tries it again.
      child.on("error", () => undefined);
      child.unref();
      if (child.pid !== undefined) pids.set(name, { pid: child.pid, start: table.startOf(child.pid) });
    } finally {
      closeSync(output);
    }
  }

  function end(name: string): void {
    for (const pid of table.writersOf(logOf(name))) {
      try {
        process.kill(pid, "SIGTERM");
      } catch {
        // It ended between the look and the signal.
      }
    }
    pids.delete(name);
  }

  const isCurrent = (name: string, command: readonly string[]): boolean =>
    existsSync(commandOf(name)) && readFileSync(commandOf(name), "utf8") === JSON.stringify(command);

  const logged = (): readonly string[] =>
    existsSync(own) ? readdirSync(own).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : [])) : [];

  let isReleased = false;
  /** Found by their logs, which takes a look at every process: once for each host. */
  let isTidied = false;
  return {
    keep() {
      if (isReleased) return;
      if (!isTidied) for (const name of logged()) if (beside.every((one) => one.name !== name)) end(name);
      isTidied = true;
      for (const { name, command } of beside) {
        if (Date.now() - (triedMs.get(name) ?? 0) < AGAIN_MS) continue;
        if (!runs(name)) start(name, command);
        else if (isCurrent(name, command)) trimEngineLog(logOf(name));
        else end(name);
      }
    },
    release() {
      isReleased = true;
      for (const name of logged()) end(name);
    },
  };
}
