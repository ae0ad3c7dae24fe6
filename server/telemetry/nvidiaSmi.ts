import { execFile } from "node:child_process";
import { BYTES_PER_MIB, type GpuReading } from "./gpuMapping";
import type { ScrapeFailure } from "./scrape";

export type SmiResult =
  | { readonly ok: true; readonly readings: readonly GpuReading[] }
  | { readonly ok: false; readonly kind: "missing" }
  | ScrapeFailure;

export interface SmiOptions {
  /** Name or path of the program. */
  readonly command: string;
  readonly timeoutMs: number;
  /** What the GPUs stand in. */
  readonly node: string;
}

const asked = ["index", "name", "utilization.gpu", "memory.used", "memory.total", "power.draw", "temperature.gpu"];

/** A line is about 100 bytes, and a host has some 16 GPUs. */
const MAX_BYTES = 1_000_000;

/** Asks nvidia-smi of this host once, killing it when it takes too long. Never throws; `missing` where there is no such program. */
export function askNvidiaSmi({ command, timeoutMs, node }: SmiOptions): Promise<SmiResult> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MAX_BYTES } as const;
    execFile(command, [`--query-gpu=${asked.join(",")}`, "--format=csv"], options, (error, output, complaint) => {
      const failed = (kind: ScrapeFailure["kind"], why: string) => resolve({ ok: false, kind, reason: `${command} ${why}` });
      if (error !== null) {
        const { code, killed } = error;
        if (code === "ENOENT") resolve({ ok: false, kind: "missing" });
        else if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") failed("too-large", `wrote more than ${MAX_BYTES} bytes`);
        else if (killed) failed("timeout", `did not answer within ${timeoutMs} ms`);
        // It says what is wrong in what it writes: "NVIDIA-SMI has failed because ...".
        else failed("status", `ended with ${code}: ${(complaint.trim() || output.trim()).split("\n", 1)[0]}`);
        return;
      }
      const readings = readNvidiaSmi(output, node);
      if (readings === null) failed("unreadable", "wrote no table of GPUs");
      else resolve({ ok: true, readings });
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
  const [header = "", ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
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

const cells = (line: string): readonly string[] => line.split(",").map((cell) => cell.trim());

/** The number of a cell in the unit that is expected; null for `[N/A]`, `[Not Supported]`, another unit. */
function number(cell: string, unit: string): number | null {
  const [, digits = "", found = ""] = /^(-?\d+(?:\.\d+)?)\s*(\S*)$/.exec(cell) ?? [];
  return digits === "" || (found !== "" && found !== unit) ? null : Number(digits);
}
