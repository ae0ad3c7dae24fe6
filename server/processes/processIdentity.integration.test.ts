import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { file, needs, program } from "@/scripts/needs.mjs";
import { procTable, psTable } from "./processIdentity";

const folder = mkdtempSync(join(tmpdir(), "weir-table-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** A process in its own group that writes a file. */
function writing(file: string, script: string): ChildProcess {
  const output = openSync(file, "a");
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", output, output], detached: true });
  closeSync(output);
  children.push(child);
  return child;
}

describe.each([
  ["/proc", procTable, [file("/proc/self/stat")]],
  ["ps and lsof", psTable, [program("ps"), program("lsof")]],
])("processes as %s tells of them", (_, table, needed) => {
  it("tells one start for a process as long as it lives, and none after", needs(...needed), async () => {
    const child = writing(join(folder, "a"), "exec sleep 30");
    const start = table.startOf(child.pid!);
    expect(start).not.toBeNull();
    expect(table.groupOf(child.pid!)).toBe(child.pid);
    expect(table.startOf(child.pid!)).toBe(start);
    // `ps` reports starts by the second, and this process may have started in the same one: the first process did not.
    expect(table.startOf(1)).not.toBe(start);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(table.startOf(child.pid!)).toBeNull();
    expect(table.groupOf(child.pid!)).toBeNull();
  });

  it("finds who writes a file, and nobody who writes another", needs(...needed), async () => {
    const file = join(folder, `b ${table === procTable}`);
    const child = writing(file, "sleep 30 >/dev/null 2>&1 & exec sleep 30");
    await expect.poll(() => table.writersOf(file)).toEqual([child.pid]);
    expect(table.writersOf(join(folder, "nothing"))).toEqual([]);
  });

  it("counts one that only waits to be collected as gone", needs(...needed), async () => {
    const file = join(folder, `c ${table === procTable}`);
    // `exec` replaces the shell that would have reaped it, before it ends.
    writing(file, "sleep 0.3 & echo $!; exec sleep 30");
    await expect.poll(() => readFileSync(file, "utf8")).toMatch(/\n/);
    const pid = Number(readFileSync(file, "utf8"));
    await expect.poll(() => table.startOf(pid)).toBeNull();
    expect(execFileSync("ps", ["-o", "state=", "-p", `${pid}`], { encoding: "utf8" }).trim()).toMatch(/^Z/);
  });
});
