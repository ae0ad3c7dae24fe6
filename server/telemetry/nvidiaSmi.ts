import { execFile } from "node:child_process";
import { BYTES_PER_MIB, type GpuReading } from "./gpuMapping";
import type { ScrapeFailure } from "./scrape";

type Missing = { readonly ok: false; readonly kind: "missing" };
/** `why` is the program's own message, or how it ended. */
type SmiFailure = ScrapeFailure & { readonly why: string };

export type SmiResult = { readonly ok: true; readonly readings: readonly GpuReading[] } | Missing | ScrapeFailure;

export interface SmiOptions {
  /** Name or path of the program. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Node of the GPUs. */
  readonly node: string;
}

const asked = ["index", "name", "utilization.gpu", "memory.used", "memory.total", "power.draw", "temperature.gpu"];

/** A line is about 100 bytes, and a host has some 16 GPUs. */
const MAX_BYTES = 1_000_000;

/** Runs nvidia-smi of this host once, and kills it if it takes too long. Never throws; `missing` if there is no such program. */
export async function askNvidiaSmi({ command, timeoutMs, node }: SmiOptions): Promise<SmiResult> {
  const ran = await runNvidiaSmi(command, [`--query-gpu=${asked.join(",")}`, "--format=csv"], timeoutMs);
  if (!ran.ok) return ran.kind === "missing" ? ran : { ok: false, kind: ran.kind, reason: ran.reason };
  const readings = readNvidiaSmi(ran.output, node);
  return readings === null ? { ok: false, kind: "unreadable", reason: `${command} wrote no table of GPUs` } : { ok: true, readings };
}

/** Rows of a table that nvidia-smi writes to a query such as `--query-gpu=uuid,index`, cell by cell, without its header. Never throws. */
export async function nvidiaSmiRows(
  command: string,
  query: string,
  timeoutMs: number,
): Promise<{ readonly ok: true; readonly rows: readonly (readonly string[])[] } | Missing | SmiFailure> {
  const ran = await runNvidiaSmi(command, [query, "--format=csv,noheader"], timeoutMs);
  return ran.ok ? { ok: true, rows: linesOf(ran.output).map(cells) } : ran;
}

function runNvidiaSmi(
  command: string,
  parameters: readonly string[],
  timeoutMs: number,
): Promise<{ readonly ok: true; readonly output: string } | Missing | SmiFailure> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MAX_BYTES } as const;
    execFile(command, parameters, options, (error, output, complaint) => {
      if (error === null) return resolve({ ok: true, output });
      const failed = (kind: ScrapeFailure["kind"], how: string, why = how) =>
        resolve({ ok: false, kind, reason: `${command} ${how}`, why });
      const { code, killed } = error;
      if (code === "ENOENT") return resolve({ ok: false, kind: "missing" });
      if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return failed("too-large", `wrote more than ${MAX_BYTES} bytes`);
      if (killed) return failed("timeout", `did not answer within ${timeoutMs} ms`);
      // Its output states the problem: "NVIDIA-SMI has failed because ...".
      const said = (complaint.trim() || output.trim()).split("\n", 1)[0];
      failed("status", `ended with ${code}: ${said}`, said || `it ended with ${code}`);
    });
  });
}

/**
 * Reads the table of `nvidia-smi --query-gpu=... --format=csv`, whose header names columns and units, in any order of columns.
 * `[N/A]` and the like are absent.
 *
 * @returns null where the text is no such table.
 */
export function readNvidiaSmi(text: string, node: string): readonly GpuReading[] | null {
  const [header = "", ...lines] = linesOf(text);
  const columns = cells(header).map((cell) => cell.replace(/ \[.*\]$/, ""));
  if (!columns.includes("index")) return null;
  return lines.flatMap((line) => {
    const row = cells(line);
    const cell = (column: string): string => row[columns.indexOf(column)] ?? "";
    const index = number(cell("index"), "");
    if (index === null) return [];
    const percent = number(cell("utilization.gpu"), "%");
    const mebibytes = (column: string): number | null => {
      const value = number(cell(column), "MiB");
      return value === null ? null : value * BYTES_PER_MIB;
    };
    return {
      node,
      index,
      instance: null,
      name: cell("name"),
      utilisation: percent === null ? null : percent / 100,
      utilisationOf: percent === null ? null : "any kernel",
      memoryUsedBytes: mebibytes("memory.used"),
      memoryTotalBytes: mebibytes("memory.total"),
      powerWatts: number(cell("power.draw"), "W"),
      temperatureCelsius: number(cell("temperature.gpu"), ""),
      containers: [],
    };
  });
}

const linesOf = (text: string): readonly string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

const cells = (line: string): readonly string[] => line.split(",").map((cell) => cell.trim());

/** The number of a cell in the expected unit; null for `[N/A]`, `[Not Supported]`, another unit. */
function number(cell: string, unit: string): number | null {
  const [, digits = "", found = ""] = /^(-?\d+(?:\.\d+)?)\s*(\S*)$/.exec(cell) ?? [];
  return digits === "" || (found !== "" && found !== unit) ? null : Number(digits);
}
