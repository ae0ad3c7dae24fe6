import { type MeasuredStep, type MeasuredStepTime, measuredStepTime } from "@/solver/calibration/measuredStepTime";
import { shown } from "@/solver/workload/outcomeRow";
import { type CsvSource, readCsv } from "./readCsv";

const COLUMNS = ["prefill_tokens", "sequences", "kv_tokens", "seconds"] as const;

export type ImportedStepTime = Extract<MeasuredStepTime, { outcome: "steps" }> & { readonly ok: true };

/**
 * Reads a table of measured engine steps: a CSV file with the columns prefill_tokens, sequences (decoding), kv_tokens (read by
 * them) and seconds.
 *
 * @returns the step time it makes, or one sentence with file, line and field, and the way out.
 */
export async function importMeasuredSteps(source: CsvSource): Promise<ImportedStepTime | { readonly ok: false; readonly message: string }> {
  const steps: MeasuredStep[] = [];
  let positions: readonly number[] = [];
  const read = await readCsv(source, {
    header(names) {
      positions = COLUMNS.map((column) => names.findIndex((name) => name.trim() === column));
      const missing = COLUMNS.filter((_, index) => (positions[index] ?? -1) < 0);
      return missing.length === 0 ? null : `${missing.join(", ")}: no such column; a table of steps needs ${COLUMNS.join(", ")}`;
    },
    row(cells) {
      const values = positions.map((position) => Number(cells[position]?.trim() || Number.NaN));
      const wrong = values.findIndex((value, index) => !(value >= 0 && (index === COLUMNS.length - 1 || Number.isInteger(value))));
      if (wrong >= 0) return `${COLUMNS[wrong]} is ${shown(cells[positions[wrong] ?? 0] ?? "")}; write a number of 0 or more`;
      const [prefillTokens = 0, sequences = 0, kvTokens = 0, seconds = 0] = values;
      if (seconds === 0) return "seconds is 0; a step takes time";
      steps.push({ prefillTokens, sequences, kvTokens, seconds });
      return null;
    },
  });
  if (!read.ok) return read;
  const made = measuredStepTime(steps, `${source.name}: ${steps.length} measured steps`);
  return made.outcome === "steps" ? { ok: true, ...made } : { ok: false, message: `${source.name}: ${made.reason}` };
}
