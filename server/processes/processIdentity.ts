import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";

/** Distinguishes processes that had the same number at different times, and finds those that still write a file. */
export interface ProcessTable {
  /** When a process began, as opaque text that no other process of the same number ever has; null: no such process. */
  startOf(pid: number): string | null;
  /** The group of a process; null: no such process. */
  groupOf(pid: number): number | null;
  /** Processes whose output goes to exactly this file. */
  writersOf(file: string): readonly number[];
}

/** A foreign tool that takes longer counts as hung. */
const toolLimitMs = 5_000;

/** Linux: `/proc`, where a start is counted in ticks since a boot with an id. A zombie process counts as gone. */
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

/** Other systems: `ps` and `lsof`. Two processes of one number that began in the same second cannot be distinguished. */
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

/** Fields of `/proc/<pid>/stat`; they are preceded by the program's name in brackets, which may contain any character. */
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

/**
 * The tool's output, trimmed; empty if it finds nothing, for which both exit with 1.
 * @throws Error if there is no such tool.
 */
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
