import { isRecord } from "@/solver/collections/isRecord";
import { isErrorDocument } from "./engineError";

/** Where an event of a stream ends: two ends of lines, each LF, CRLF or CR. */
const eventEnd = /(?<=(?:\r\n|\n|\r(?!\n)){2})/;
const lineEnd = /\r\n|\n|\r/;

/**
 * The lines before the event by which an engine reports an error, so that the event can be sent in the form that clients read.
 * @param lines whole lines that end that event. All are returned if its data came before them.
 */
export function beforeError(lines: Buffer): Buffer {
  let start = 0;
  // One character a byte, so that positions are those of the bytes.
  for (const event of lines.toString("latin1").split(eventEnd)) {
    if (event.split(lineEnd).some(isErrorLine)) return lines.subarray(0, start);
    start += event.length;
  }
  return lines;
}

/** Whether lines end inside of an event that has data: the next line would be a part of it. */
export function endsInData(lines: Buffer): boolean {
  const open = lines.toString("latin1").split(eventEnd).at(-1) ?? "";
  return !endsEvent.test(open) && open.split(lineEnd).some((line) => line.startsWith("data"));
}

/** Lines with those before them that belong to the same event: most chunks end their last event, so that nothing is copied. */
export function withOpenEvent(before: Buffer, lines: Buffer): Buffer {
  const isWhole = before.length === 0 || endsEvent.test(before.toString("latin1", Math.max(0, before.length - 4)));
  return isWhole ? lines : Buffer.from(Buffer.concat([before, lines]).toString("latin1").split(eventEnd).at(-1) ?? "", "latin1");
}

const endsEvent = /(?:\r\n|\n|\r(?!\n)){2}$/;

function isErrorLine(line: string): boolean {
  if (!line.startsWith("data:")) return false;
  try {
    const document: unknown = JSON.parse(line.slice("data:".length));
    return isRecord(document) && isErrorDocument(document);
  } catch {
    return false;
  }
}
