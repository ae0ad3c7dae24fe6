import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

/** The machine that figures were measured on. */
export const machine = `${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;

/** Writes figures to `bench/results/<name>.json`, with the machine and the time; returns the file. */
export function writeResults(name: string, rows: unknown): string {
  const folder = join(process.env.WEIR_ROOT ?? process.cwd(), "bench", "results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify({ machine, at: new Date().toISOString(), rows }, null, 2)}\n`);
  return file;
}
