import { isRecord } from "@/solver/collections/isRecord";

const nothing = Buffer.alloc(0);

/**
 * The lines of a stream without the events that carry only the usage: a client that did not ask for them may read the first choice of each
 * event. The empty line after such an event stays, which ends nothing.
 * @param lines whole lines.
 */
export function withoutUsage(lines: Buffer): Buffer {
  if (!lines.includes('"usage"')) return lines;
  // One character a byte, so that what is left is sent as it came.
  const kept = lines
    .toString("latin1")
    .split(/(?<=\n)/)
    .filter((line) => !isUsageLine(line));
  return kept.length === 0 ? nothing : Buffer.from(kept.join(""), "latin1");
}

function isUsageLine(line: string): boolean {
  if (!line.startsWith("data:") || !line.includes('"usage"')) return false;
  try {
    const document: unknown = JSON.parse(line.slice("data:".length));
    return isRecord(document) && isRecord(document.usage) && Array.isArray(document.choices) && document.choices.length === 0;
  } catch {
    return false;
  }
}
