import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

/** The machine that figures were measured on. */
export const machine = `${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;

/** Writes figures to `bench/results/<name>.json`, with the machine and the time; returns the file. */
export function writeResults(name: string, rows: unknown): string {
  const file = join(resultsFolder(), `${name}.json`);
  writeFileSync(file, `${JSON.stringify({ machine, at: new Date().toISOString(), rows }, null, 2)}\n`);
  return file;
}

/** The same for many rows: one per line, their figures to five digits. */
export function writeRows(name: string, rows: readonly unknown[]): string {
  const file = join(resultsFolder(), `${name}.json`);
  const round = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(5)) : value);
  const lines = rows.map((row) => JSON.stringify(row, round)).join(",\n");
  writeFileSync(file, `${JSON.stringify({ machine, at: new Date().toISOString() }).slice(0, -1)},"rows":[\n${lines}\n]}\n`);
  return file;
}

/** What a run wrote to `bench/results/<name>.json`, and where and when. */
interface KeptRun<Row> {
  readonly machine: string;
  readonly at: string;
  readonly rows: readonly Row[];
}

/** The last run that wrote to `bench/results/<name>.json`; null where there is none. */
export function keptRun<Row>(name: string): KeptRun<Row> | null {
  const file = join(resultsFolder(), `${name}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as KeptRun<Row>) : null;
}

/** Rows that an earlier run wrote, with `WEIR_BENCH_KEPT=1` for a run that was stopped; null where there are none, or without it. */
export function keptRows<Row>(name: string): readonly Row[] | null {
  return process.env.WEIR_BENCH_KEPT === "1" ? (keptRun<Row>(name)?.rows ?? null) : null;
}

/**
 * Writes tables and the sentences between them to `bench/results/tables/<name>.md`, from where `scripts/benchTables.mjs` puts them into
 * bench/results/*.md.
 */
export function writeTables(name: string, parts: readonly string[]): void {
  writeFileSync(join(resultsFolder("tables"), `${name}.md`), `${parts.map((part) => part.trimEnd()).join("\n\n")}\n`);
}

/** The folder of results, or one below it; made where it is missing. */
export function resultsFolder(below = ""): string {
  const folder = join(process.env.WEIR_ROOT ?? process.cwd(), "bench", "results", below);
  mkdirSync(folder, { recursive: true });
  return folder;
}
