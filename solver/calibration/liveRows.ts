import type { RowOrigin, ServingRow } from "./servingRow";
import type { SteadyWindow } from "./steadyWindows";

/** An engine with all the properties that a row needs. */
export interface LiveEngine extends Pick<ServingRow, "engine" | "model" | "gpu" | "precision" | "kvPrecision" | "shape"> {
  readonly origin: Exclude<RowOrigin, "run">;
  /** As reported by the engine; null where it does not report it. */
  readonly version: string | null;
}

/** A row from an interval of steady load, with the other data of that interval. */
export interface LiveRow extends ServingRow {
  readonly version: string | null;
  readonly window: SteadyWindow;
}

/** Windows of an engine as rows. Lines are those of `liveTable` over these rows alone. */
export function liveRows(
  windows: readonly SteadyWindow[],
  engine: LiveEngine,
  nameOf: (window: SteadyWindow) => string,
): readonly LiveRow[] {
  return windows.map((window, index) => ({
    ...engine,
    line: index + 2,
    id: nameOf(window),
    inputTokens: Math.max(1, Math.round(window.inputTokens)),
    outputTokens: Math.max(1, Math.round(window.outputTokens)),
    concurrency: Math.max(1, Math.round(window.concurrency)),
    measured: { ttftSeconds: window.ttftSeconds, tpotSeconds: window.tpotSeconds },
    window,
  }));
}

/** At most so many of the rows, spread evenly over the requests in flight: a few represent many similar windows. In order of time. */
export function spreadRows(rows: readonly LiveRow[], most: number): readonly LiveRow[] {
  if (rows.length <= most) return rows;
  const byLoad = [...rows].sort((one, other) => one.window.concurrency - other.window.concurrency);
  const kept = Array.from({ length: most }, (_, at) => byLoad[Math.round((at * (byLoad.length - 1)) / Math.max(1, most - 1))] as LiveRow);
  return kept.sort((one, other) => one.window.fromMs - other.window.fromMs);
}

/** The rows as a CSV file that `readServingRow` reads as the same rows; columns unknown to it have their unit in the name. */
export function liveTable(rows: readonly LiveRow[]): string {
  const columns: readonly (readonly [string, (row: LiveRow) => string | number])[] = [
    ["id", (row) => row.id],
    ["measured_on", (row) => row.origin],
    ["engine", (row) => row.engine],
    ["engine_version", (row) => row.version ?? ""],
    ["model", (row) => row.model],
    ["gpu", (row) => row.gpu],
    ["tp", (row) => row.shape.tp],
    ["pp", (row) => row.shape.pp],
    ["weights", (row) => row.precision],
    ["kv_precision", (row) => row.kvPrecision],
    ["input_tokens", (row) => row.inputTokens],
    ["output_tokens", (row) => row.outputTokens],
    ["concurrency", (row) => row.concurrency],
    ["ttft_ms", (row) => 1000 * row.window.ttftSeconds],
    ["tpot_ms", (row) => 1000 * row.window.tpotSeconds],
    ["end_to_end_ms", (row) => 1000 * row.window.endToEndSeconds],
    ["requests_per_second", (row) => row.window.requestsPerSecond],
    ["requests", (row) => Math.round(row.window.requests)],
    ["seconds", (row) => (row.window.toMs - row.window.fromMs) / 1000],
  ];
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => quoted(String(value(row)))))];
  return `${lines.map((cells) => cells.join(",")).join("\n")}\n`;
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
