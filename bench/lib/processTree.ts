import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in `/proc`, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** A process below another, and the processor seconds it has used so far, its own and the kernel's for it. */
export interface ProcessUse {
  readonly pid: number;
  readonly commandLine: string;
  readonly seconds: number;
}

/** A process and all its descendants, as `/proc` currently shows them. Processes that ended in between are left out. */
export function processTree(rootPid: number): readonly ProcessUse[] {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        // The name of the program is in brackets and may contain anything.
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
        const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
        const commandLine = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return [{ pid: Number(name), parent: Number(fields[1]), commandLine, seconds }];
      } catch {
        return [];
      }
    });
  const tree = new Set([rootPid]);
  for (let before = 0; before < tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of found) if (tree.has(parent)) tree.add(pid);
  }
  return found.filter(({ pid }) => tree.has(pid));
}

/** Processor seconds used between two snapshots of a tree, by the processes whose command line contains a text. */
export function usedBetween(before: readonly ProcessUse[], after: readonly ProcessUse[], text = ""): number {
  const earlier = new Map(before.map(({ pid, seconds }) => [pid, seconds]));
  return after
    .filter(({ commandLine }) => commandLine.includes(text))
    .reduce((sum, { pid, seconds }) => sum + seconds - (earlier.get(pid) ?? 0), 0);
}
