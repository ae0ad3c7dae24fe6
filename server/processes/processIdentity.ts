import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";

/** What tells processes apart that had the same number one after the other, and which still write a file. */
export interface ProcessTable {
  /** When a process began, as opaque text that no other process of the same number ever has; null: there is no such process. */
  startOf(pid: number): string | null;
  /** The group a process is in; null: there is no such process. */
  groupOf(pid: number): number | null;
  /** Processes whose output goes into this very file. */
  writersOf(file: string): readonly number[];
}

/** A foreign tool that takes longer hangs. */
const toolLimitMs = 5_000;

/** Linux: `/proc`, where a start is counted in ticks since the boot that is named. A process that only waits to be collected counts as gone. */
export const procTable: ProcessTable = {
  startOf(pid) {
    const fields = statFields(pid);
    if (fields === null || fields.state === "Z" || fields.state === "X") return null;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${fields.startTicks}`;
  },
  groupOf: (pid) => statFields(pid)?.group ?? null,
  writersOf(file) {
    const wanted = inodeOf(file);
    if (wanted === null) return [];
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => ["1", "2"].some((fd) => inodeOf(`/proc/${pid}/fd/${fd}`) === wanted)).map(Number);
  },
};

/** Elsewhere: `ps` and `lsof`. Two processes of one number that began in the same second cannot be told apart. */
export const psTable: ProcessTable = {
  startOf(pid) {
    const [, state = "", start = ""] = /^(\S+)\s+(.*)$/.exec(tool("ps", ["-o", "state=,lstart=", "-p", `${pid}`])) ?? [];
    return start === "" || state.startsWith("Z") ? null : start;
  },
  groupOf: (pid) => Number(tool("ps", ["-o", "pgid=", "-p", `${pid}`])) || null,
  writersOf: (file) =>
    tool("lsof", ["-t", "-a", "-d", "1,2", "--", file])
      .split("\n")
      .filter((line) => line !== "")
      .map(Number),
};

export const processTable: ProcessTable = existsSync("/proc/self/stat") ? procTable : psTable;

/** Fields of `/proc/<pid>/stat`; the program's name, which may hold anything, stands in brackets before them. */
function statFields(pid: number): { readonly state: string; readonly group: number; readonly startTicks: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", group: Number(fields[2]), startTicks: fields[19] ?? "" };
  } catch {
    return null;
  }
}

function inodeOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}/${ino}`;
  } catch {
    return null;
  }
}

/** What the tool writes, trimmed; empty where it finds nothing, which both end with 1 for. @throws Error where there is no such tool. */
function tool(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      timeout: toolLimitMs,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, LC_ALL: "C" },
    }).trim();
  } catch (error) {
    // Without the tool every engine would seem gone, and be started a second time.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw error;
    return "";
  }
}
