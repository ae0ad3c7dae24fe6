import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "@/server/lib/reasonOf";
import { createMask } from "../lib/secrets";
import { engineEnvironment, secretsOf, type Variables } from "./engineEnvironment";
import { endLines, openEngineLog, trimEngineLog } from "./engineLog";
import type { ProcessConnection } from "./processConnection";
import type { ProcessTable } from "./processIdentity";

/** A program that ends at once is started again no sooner. */
const AGAIN_MS = 5_000;

/** After it a program that was told to end is killed. */
const usualGraceMs = 5_000;

const suffix = ".log";

export interface BesideParts {
  /** Folder of this cluster's engines; programs have a folder in it. */
  readonly folder: string;
  readonly environment: Variables;
  readonly table: ProcessTable;
  readonly graceMs?: number;
}

/** Programs that run beside the engines of a cluster. */
export interface BesidePrograms {
  /** Starts those that do not run, and ends those that the connection no longer lists. */
  keep(): void;
  /** Programs that did not run at the last look, with the last lines of their logs, a sentence each; secrets are masked. */
  faults(): readonly string[];
  /** Ends all of them, also those that an earlier studio started. */
  release(): void;
}

type Program = ProcessConnection["beside"][number];

/**
 * The programs of a connection. They survive the studio and are found again by the log that each writes and no other process has open. One
 * whose command changed is ended and started again. Variables of the engines reach only those programs that name them.
 */
export function createBesidePrograms(
  { beside, environment: declared }: Pick<ProcessConnection, "beside" | "environment">,
  { folder, environment, table, graceMs = usualGraceMs }: BesideParts,
): BesidePrograms {
  const programs = join(folder, "beside");
  const logOf = (name: string): string => join(programs, `${name}${suffix}`);
  const commandOf = (name: string): string => join(programs, `${name}.json`);
  const pids = new Map<string, { readonly pid: number; readonly start: string | null }>();
  const triedMs = new Map<string, number>();
  /** Why a program could not be started, by its name, until it is tried again. */
  const refused = new Map<string, string>();
  const faults = new Map<string, string>();
  /** Starts of processes that were told to end, by their number. */
  const ending = new Map<number, string | null>();
  const mask = (text: string): string => createMask(secretsOf(declared, environment))(text);

  function runs(name: string): boolean {
    const known = pids.get(name);
    if (known !== undefined && known.start !== null && table.startOf(known.pid) === known.start) return true;
    const [pid] = table.writersOf(logOf(name));
    if (pid === undefined) pids.delete(name);
    else pids.set(name, { pid, start: table.startOf(pid) });
    return pid !== undefined;
  }

  /** Of a program that was started and does not run. */
  function endText(name: string): string {
    const reason = refused.get(name);
    if (reason !== undefined) return `${name} beside the engines cannot be started: ${mask(reason).replace(/\.$/, "")}.`;
    const lines = endLines(logOf(name), mask);
    return `${name} beside the engines ended and is started again. ${lines.length === 0 ? "Its log is empty." : `Its log says: ${lines.join(" · ")}`}`;
  }

  function start({ name, command: [program = "", ...args], variables: named = [] }: Program): void {
    triedMs.set(name, Date.now());
    refused.delete(name);
    const own = Object.fromEntries(Object.entries(declared).filter(([variable]) => named.includes(variable)));
    const variables = engineEnvironment(own, environment, []);
    if (!variables.ok) {
      refused.set(name, variables.message);
      return;
    }
    mkdirSync(programs, { recursive: true, mode: 0o700 });
    writeFileSync(commandOf(name), JSON.stringify([program, ...args]), { mode: 0o600 });
    const output = openEngineLog(logOf(name));
    try {
      const child = spawn(/* turbopackIgnore: true */ program, args, {
        env: variables.value as NodeJS.ProcessEnv,
        stdio: ["ignore", output, output],
        detached: true,
      });
      child.on("error", (problem) => refused.set(name, reasonOf(problem)));
      child.unref();
      if (child.pid !== undefined) pids.set(name, { pid: child.pid, start: table.startOf(child.pid) });
    } finally {
      closeSync(output);
    }
  }

  function end(name: string): void {
    for (const pid of table.writersOf(logOf(name))) {
      const began = table.startOf(pid);
      if (ending.get(pid) === began) continue;
      ending.set(pid, began);
      signal(pid, "SIGTERM");
      setTimeout(() => {
        ending.delete(pid);
        if (began !== null && table.startOf(pid) === began) signal(pid, "SIGKILL");
      }, graceMs).unref();
    }
    pids.delete(name);
  }

  const isCurrent = (name: string, command: readonly string[]): boolean =>
    existsSync(commandOf(name)) && readFileSync(commandOf(name), "utf8") === JSON.stringify(command);

  const logged = (): readonly string[] =>
    existsSync(programs) ? readdirSync(programs).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : [])) : [];

  let isReleased = false;
  /** Found by their logs, which takes a look at every process: once for each host. */
  let isTidied = false;
  return {
    keep() {
      if (isReleased) return;
      if (!isTidied) for (const name of logged()) if (beside.every((one) => one.name !== name)) end(name);
      isTidied = true;
      for (const program of beside) {
        const { name, command } = program;
        const tried = triedMs.get(name);
        if (tried !== undefined && Date.now() - tried < AGAIN_MS) continue;
        if (runs(name)) {
          faults.delete(name);
          if (isCurrent(name, command)) trimEngineLog(logOf(name));
          else end(name);
          continue;
        }
        if (tried !== undefined) faults.set(name, endText(name));
        start(program);
      }
    },
    faults: () => [...faults.values()],
    release() {
      isReleased = true;
      for (const name of logged()) end(name);
    },
  };
}

function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between the look and the signal.
  }
}
