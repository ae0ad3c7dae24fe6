import { type MeasuredStep, type MeasuredStepTime, measuredStepTime } from "@/solver/calibration/measuredStepTime";
import { shown } from "@/solver/workload/outcomeRow";
import { type CsvSource, readCsv } from "./readCsv";

const COLUMNS = ["prefill_tokens", "sequences", "kv_tokens", "seconds"] as const;

/** Integers with up to ten digits, also in the form 8.0 of some exports; small times may have an exponent. */
const WHOLE = /^\d{1,10}(\.0*)?$/;
const DECIMAL = /^\d*\.?\d+(e-?\d+)?$/i;

/** No GPU launches a kernel faster, and no step takes longer. */
const LEAST_SECONDS = 1e-6;
const MOST_SECONDS = 3600;

export type ImportedStepTime = Extract<MeasuredStepTime, { outcome: "steps" }> & { readonly ok: true };

/**
 * Reads a table of measured engine steps: a CSV file with the columns prefill_tokens, sequences (decoding), kv_tokens (read by them) and
 * seconds.
 *
 * @returns the step time it makes, or one sentence with file, line and field, and the remedy.
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
      const texts = positions.map((position) => cells[position]?.trim() ?? "");
      const wrong = texts.findIndex((text, index) => !(index === COLUMNS.length - 1 ? DECIMAL : WHOLE).test(text));
      if (wrong >= 0) return `${COLUMNS[wrong]} is ${shown(texts[wrong] ?? "")}; write a number of 0 or more in plain digits`;
      const [prefillTokens = 0, sequences = 0, kvTokens = 0, seconds = 0] = texts.map(Number);
      if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS))
        return `seconds is ${seconds}; a step takes from ${LEAST_SECONDS} to ${MOST_SECONDS} seconds`;
      steps.push({ prefillTokens, sequences, kvTokens, seconds });
      return null;
    },
  });
  if (!read.ok) return read;
  const made = measuredStepTime(steps, `${source.name}: ${steps.length} measured steps`);
  return made.outcome === "steps" ? { ok: true, ...made } : { ok: false, message: `${source.name}: ${made.reason}` };
}
