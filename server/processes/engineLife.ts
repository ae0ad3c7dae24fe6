import { endLines } from "./engineLog";
import type { EngineRecord, EngineRecords } from "./engineRecords";
import type { ProcessTable } from "./processIdentity";

/**
 * State of an engine. `left`: its main process is gone and other processes of it continue, with its GPUs. `ended`: none of its processes
 * runs.
 */
export type EngineLife =
  | { readonly state: "alive"; readonly pid: number; readonly record: EngineRecord }
  | { readonly state: "left"; readonly pids: readonly number[]; readonly record: EngineRecord }
  | { readonly state: "ended"; readonly record: EngineRecord };

/**
 * Checks the processes of a recorded engine and records new facts: the process of one whose studio was killed right after starting it
 * (found by the log it writes, which no other process has), and that one has ended. A process of the same number that began at another time
 * does not belong to it.
 *
 * @returns null for an engine that was about to be started and never was; its record is gone then.
 */
export function lifeOf(record: EngineRecord, records: EngineRecords, table: ProcessTable): EngineLife | null {
  if (record.ended) return { state: "ended", record };
  if (record.process === null) {
    const writers = table.writersOf(record.log);
    if (writers.length === 0) {
      records.remove(record.order.id);
      return null;
    }
    const pid = writers.find((writer) => table.groupOf(writer) === writer);
    if (pid === undefined) return { state: "left", pids: writers, record };
    const found = { ...record, process: { pid, start: table.startOf(pid) } };
    records.write(found);
    return lifeOf(found, records, table);
  }
  const { pid, start } = record.process;
  if (start !== null && table.startOf(pid) === start) return { state: "alive", pid, record };
  const pids = table.writersOf(record.log);
  if (pids.length > 0) return { state: "left", pids, record };
  const ended = { ...record, ended: true };
  records.write(ended);
  return { state: "ended", record: ended };
}

/** Signals an engine's whole group, or one by one the processes that its main process left; does nothing if it has ended. */
export function signalEngine(life: EngineLife, name: "SIGTERM" | "SIGKILL"): void {
  if (life.state === "alive") signal(-life.pid, name);
  if (life.state === "left") for (const pid of life.pids) signal(pid, name);
}

/** How an engine's main process ended, in a sentence with the end of its log. */
export function endText(life: Exclude<EngineLife, { readonly state: "alive" }>, mask: (text: string) => string): string {
  const { order, startedAt, exit, log } = life.record;
  const lines = endLines(log, mask);
  const words = lines.length === 0 ? "It wrote nothing." : `Its log says: ${lines.join(" | ")} (the whole: ${log}).`;
  const left =
    life.state === "left" ? ` It left ${life.pids.length} of its processes behind, which hold its GPUs until it is stopped.` : "";
  if (exit === null) return `${order.id} ended while no studio watched it, so that its exit code is not known. ${words}${left}`;
  const how = exit.signal === null ? `with exit code ${exit.code}` : `by signal ${exit.signal}`;
  const seconds = (Date.parse(exit.at) - Date.parse(startedAt)) / 1000;
  // Linux ends a process so when no memory is left, and the process itself can write nothing about it.
  const memory = exit.signal === "SIGKILL" ? " A system without free memory ends processes by this signal." : "";
  return `${order.id} ended ${how}, ${seconds.toFixed(1)} s after it was started.${memory} ${words}${left}`;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended between the check and the signal.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
