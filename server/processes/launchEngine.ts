import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "@/server/clusters/connector/connector";
import { openEngineLog } from "./engineLog";
import type { EngineRecord, EngineRecords } from "./engineRecords";
import type { ProcessTable } from "./processIdentity";

export interface Launch {
  readonly record: EngineRecord;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly records: EngineRecords;
  readonly table: ProcessTable;
}

/**
 * Starts an engine in its own process group and session, which survive the studio. The record is written before the process starts, and
 * again once its number is known, so that after a kill in between the next studio finds it. Returns its process, or why the system refused
 * it.
 */
export async function launchEngine({ record, command, environment, records, table }: Launch): Promise<Answer<ChildProcess>> {
  const { id } = record.order;
  const [program = "", ...args] = command;
  records.write(record);
  const output = openEngineLog(record.log);
  let child: ChildProcess;
  try {
    child = spawn(/* turbopackIgnore: true */ program, args, {
      env: environment as NodeJS.ProcessEnv,
      stdio: ["ignore", output, output],
      detached: true,
    });
  } finally {
    closeSync(output);
  }
  if (child.pid === undefined) {
    const [error] = (await once(child, "error").catch((refusal: unknown) => [refusal])) as [NodeJS.ErrnoException];
    records.remove(id);
    return { ok: false, message: refusalText(program, error) };
  }
  const { pid } = child;
  records.write({ ...record, process: { pid, start: table.startOf(pid) } });
  child.unref();
  child.once("exit", (code, signal) => {
    try {
      const kept = records.read(id);
      if (kept?.process?.pid === pid) records.write({ ...kept, exit: { code, signal, at: new Date().toISOString() } });
    } catch {
      // A full disk: its end is detected nevertheless; how it ended is then reported as unknown.
    }
  });
  return { ok: true, value: child };
}

/**
 * Waits whether a process ends at once.
 * @returns true if it did. Rejects when aborted; the process continues.
 */
export async function endsWithin(child: ChildProcess, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const ended = new Promise<true>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(true);
    child.once("exit", () => resolve(true));
  });
  try {
    return await Promise.race([ended, sleep(limitMs, false as const, { signal: AbortSignal.any([signal, over.signal]) })]);
  } finally {
    over.abort();
  }
}

function refusalText(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT")
    return `The program "${program}" was not found on this host: install it, or give its path in a template of the connection.`;
  if (error.code === "EACCES") return `The program "${program}" may not be run by the studio's user.`;
  return `The program "${program}" could not be started (${error.code ?? "no reason given"}).`;
}
