import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { messagesOf, tellingLines } from "./logLines";

/** An engine that logs every request writes this much in some hours. */
const mostLogBytes = 32 * 1024 * 1024;

/** The part of a log that is shown, and from which sentences are made. */
const lookBackBytes = 128 * 1024;
const shownLineLength = 300;

/** The removed part of a log that had grown too large. */
const cutOff = (log: string): string => `${log}.cut`;

/**
 * Opens a new log that only this user may read; the log of the engine's last run is kept next to it. The descriptor appends, so that the
 * file may be emptied under its writer.
 */
export function openEngineLog(log: string): number {
  rmSync(cutOff(log), { force: true });
  if (existsSync(log)) renameSync(log, `${log}.previous`);
  return openSync(log, "a", 0o600);
}

/** Moves the end of a log that has grown too large aside and empties it. Lines written meanwhile may be lost. */
export function trimEngineLog(log: string, mostBytes = mostLogBytes): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= mostBytes) return;
  writeFileSync(cutOff(log), readEnd(log, mostBytes / 2).bytes, { mode: 0o600 });
  truncateSync(log);
}

/** The end of a log, keys hidden; empty if nothing was written. */
export const logTail = (log: string, mask: (text: string) => string): string =>
  linesAtEnd(log, mask)
    .map((line) => `${line}\n`)
    .join("");

/** The lines of a log that say why an engine ended, in a form for a sentence; empty if nothing was written. */
export const endLines = (log: string, mask: (text: string) => string): readonly string[] => tellingLines(linesAtEnd(log, mask)).map(short);

/** The newest line of a log that is no frame of a stack; null if nothing was written. */
export function newestLine(log: string, mask: (text: string) => string): string | null {
  const line = messagesOf(linesAtEnd(log, mask)).at(-1);
  return line === undefined ? null : short(line);
}

const short = (line: string): string => (line.length > shownLineLength ? `${line.slice(0, shownLineLength)}…` : line).trim();

function linesAtEnd(log: string, mask: (text: string) => string): readonly string[] {
  if (!existsSync(log)) return [];
  const { bytes, whole } = readEnd(log, lookBackBytes);
  const text = bytes.toString("utf8");
  // A line without its beginning may start within a key, which no mask would recognise.
  const known = whole && !existsSync(cutOff(log)) ? text : text.slice(text.indexOf("\n") + 1);
  return mask(known)
    .split(/\r?\n|\r/)
    .map(printable)
    .filter((line) => line.trim() !== "");
}

function readEnd(file: string, most: number): { readonly bytes: Buffer; readonly whole: boolean } {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.min(size, Math.floor(most));
    const bytes = Buffer.alloc(length);
    const read = readSync(descriptor, bytes, 0, length, size - length);
    return { bytes: bytes.subarray(0, read), whole: length === size };
  } finally {
    closeSync(descriptor);
  }
}

/** Without colours and other control sequences. */
const printable = (line: string): string => stripEscapes(line).replace(/\p{Cc}/gu, (character) => (character === "\t" ? " " : ""));

const stripEscapes = (line: string): string => line.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g"), "");
