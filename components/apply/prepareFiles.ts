import type { GeneratedFile } from "@/server/contracts/studio";
import { lineDiff, type TextLine } from "./lineDiff";

/** A line as shown: its numbers in the two texts, null where it is not in that one. */
export interface ShownLine extends TextLine {
  readonly before: number | null;
  readonly after: number | null;
}

/** Consecutive lines; `skipped` equal ones before them are left out. */
interface Hunk {
  readonly skipped: number;
  readonly lines: readonly ShownLine[];
}

export interface ShownFile {
  readonly name: string;
  readonly sign: "+" | "-" | "~" | "=";
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  /** Equal lines after the last hunk. */
  readonly skippedAtEnd: number;
  /** Lines that are not drawn, for lack of space. */
  readonly left: number;
  /** Whether the texts could be compared line by line. */
  readonly matched: boolean;
}

/** Equal lines shown around a change as context. */
const CONTEXT = 3;
/** More would not be read; the exported file has everything. */
const MOST_LINES = 600;

/** A generated file as its changes; `hideUnchanged` leaves out equal lines away from changes. */
export function prepareFile(file: GeneratedFile, hideUnchanged: boolean): ShownFile {
  const { lines, shortest } = lineDiff(file.before, file.after);
  const count = (sign: TextLine["sign"]): number => lines.filter((line) => line.sign === sign).length;
  const [added, removed] = [count("+"), count("-")];
  const sign = file.before === null ? "+" : file.after === null ? "-" : added + removed === 0 ? "=" : "~";
  const wanted = hideUnchanged ? nearChanges(lines) : lines.map(() => true);
  const hunks: { skipped: number; lines: ShownLine[] }[] = [];
  let [before, after, skipped, drawn, left] = [0, 0, 0, 0, 0];
  for (const [index, line] of lines.entries()) {
    if (line.sign !== "+") before++;
    if (line.sign !== "-") after++;
    if (!wanted[index]) {
      skipped++;
    } else if (drawn === MOST_LINES) {
      left++;
    } else {
      if (skipped > 0 || hunks.length === 0) hunks.push({ skipped, lines: [] });
      skipped = 0;
      drawn++;
      hunks.at(-1)?.lines.push({ ...line, before: line.sign === "+" ? null : before, after: line.sign === "-" ? null : after });
    }
  }
  return { name: file.name, sign, added, removed, hunks, skippedAtEnd: skipped, left, matched: shortest };
}

/** Files to show, changed ones first in their order; unchanged ones only on demand. */
export function prepareFiles(files: readonly GeneratedFile[], hideUnchanged: boolean): readonly ShownFile[] {
  const shown = files.map((file) => prepareFile(file, hideUnchanged));
  const unchanged = shown.filter(({ sign }) => sign === "=");
  return [...shown.filter(({ sign }) => sign !== "="), ...(hideUnchanged ? [] : unchanged)];
}

function nearChanges(lines: readonly TextLine[]): readonly boolean[] {
  const near = lines.map(() => false);
  for (const [index, { sign }] of lines.entries()) {
    if (sign !== "=") near.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  return near;
}
