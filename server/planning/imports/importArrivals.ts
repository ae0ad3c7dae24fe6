import { shown } from "@/solver/workload/outcomeRow";
import { type CsvSource, readCsv } from "./readCsv";

export type ImportedArrivals =
  | {
      readonly ok: true;
      /** Seconds since the first arrival, ascending. */
      readonly arrivalSeconds: Float64Array;
      /** Time of the first one, in Unix milliseconds. */
      readonly firstAtMs: number;
      /** Their source, in words. */
      readonly origin: string;
    }
  | { readonly ok: false; readonly message: string };

const COLUMN = "TIMESTAMP";

/**
 * Reads the arrivals of a trace in the format of the Azure LLM inference traces: a CSV file with a column TIMESTAMP, such as `2023-11-16
 * 18:15:46.6805900`, in ascending order. Lengths in the file are not used: a workload's lengths are those of its prompts.
 *
 * @returns arrivals, or one sentence with file, line and field, and the remedy.
 */
export async function importArrivals(source: CsvSource): Promise<ImportedArrivals> {
  const arrivals: number[] = [];
  let column = -1;
  let first: Instant | null = null;
  const read = await readCsv(source, {
    header(names) {
      column = names.findIndex((name) => name.trim() === COLUMN);
      if (column >= 0) return null;
      return `${COLUMN}: no such column among ${names.slice(0, 10).map(shown).join(", ")}; name the column of arrival times ${COLUMN}`;
    },
    row(cells) {
      const text = cells[column]?.trim() ?? "";
      const instant = parseInstant(text);
      if (instant === null) return `${COLUMN} is ${shown(text)}; write times like 2023-11-16 18:15:46.6805900`;
      first ??= instant;
      const seconds = secondsBetween(first, instant);
      if (seconds < (arrivals[arrivals.length - 1] ?? 0)) {
        return `${COLUMN} ${shown(text)} is earlier than the row before it; sort the trace by time`;
      }
      arrivals.push(seconds);
      return null;
    },
  });
  if (!read.ok) return read;
  const span = arrivals[arrivals.length - 1] ?? 0;
  if (arrivals.length < 2) return { ok: false, message: `${source.name}: ${COLUMN} has one arrival; a trace needs at least 2` };
  if (span === 0) return { ok: false, message: `${source.name}: ${COLUMN} is the same in all rows; a trace must span some time` };
  const rate = (arrivals.length - 1) / span;
  return {
    ok: true,
    arrivalSeconds: Float64Array.from(arrivals),
    firstAtMs: first === null ? 0 : 1000 * secondsBetween({ epochSeconds: 0, fraction: 0 }, first),
    origin: `${source.name}: ${arrivals.length} arrivals in ${Math.round(span)} s, ${rate.toFixed(2)} requests/s as recorded`,
  };
}

/** A time in two parts: a double of seconds since 1970 has room for just 7 digits of a second's fraction. */
interface Instant {
  readonly epochSeconds: number;
  readonly fraction: number;
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;

/** Times without an offset count as UTC, as in the Azure traces. null if the text is no time. */
function parseInstant(text: string): Instant | null {
  const match = TIME.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // Date.UTC carries over: 30 February becomes 1 March.
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return isReal ? { epochSeconds: date.getTime() / 1000 - offsetSeconds(match[8]), fraction: Number(`0${match[7] ?? ""}`) } : null;
}

function offsetSeconds(offset: string | undefined): number {
  if (offset === undefined || offset === "Z") return 0;
  const seconds = Number(offset.slice(1, 3)) * 3600 + Number(offset.slice(-2)) * 60;
  return offset.startsWith("-") ? -seconds : seconds;
}

const secondsBetween = (from: Instant, to: Instant): number => to.epochSeconds - from.epochSeconds + (to.fraction - from.fraction);
