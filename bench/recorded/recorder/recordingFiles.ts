import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedExchange, RecordedStart, recordedPages } from "@/server/engines/testing/recordedEngine";

/** Writes the files of one recording; `readRecording` reads them. Each returns the bytes it wrote. */
export interface RecordingFiles {
  exchanges(exchanges: readonly RecordedExchange[]): number;
  page(name: (typeof recordedPages)[number], text: string): number;
  /** Logs are cut to their first and last lines. */
  starts(starts: readonly RecordedStart[]): number;
}

/** Lines of a log that are kept, from its start and from its end: the last ones hold the stacks of all three processes. */
const LOG_LINES = { first: 25, last: 200, characters: 300 };

/** @param folder made where it does not exist. */
export function recordingFiles(folder: string): RecordingFiles {
  const write = (name: string, text: string): number => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
    return Buffer.byteLength(text);
  };
  return {
    exchanges: (exchanges) => write("exchanges.jsonl", jsonLines(exchanges)),
    page: (name, text) => write(`metrics-${name}.txt`, text),
    starts: (starts) => write("starts.jsonl", jsonLines(starts.map(shortened))),
  };
}

const jsonLines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

function shortened(start: RecordedStart): RecordedStart {
  const { first, last, characters } = LOG_LINES;
  const lines = start.log.map((line) => line.slice(0, characters));
  const log = lines.length <= first + last ? lines : [...lines.slice(0, first), "…", ...lines.slice(-last)];
  return { ...start, log };
}
