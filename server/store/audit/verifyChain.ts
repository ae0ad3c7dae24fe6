import type { AuditRecord } from "@/server/contracts/studio";
import { chainHash, genesisId, genesisPrevious } from "./auditChain";

/** A line with the hash before it, as it is exported. */
export interface LinkedRecord extends AuditRecord {
  readonly previous: string;
}

/** What is wrong with an audit. `line` is the id of the first bad line; null: no single line is bad. */
export interface AuditFault {
  readonly kind: "changed" | "removed" | "order" | "begin" | "unreadable" | "unchained" | "head" | "triggers";
  readonly line: number | null;
  readonly says: string;
}

/** What was verified. */
interface AuditExtent {
  readonly lines: number;
  readonly first: AuditRecord | null;
  readonly last: AuditRecord | null;
  /** Places where a filtered export leaves lines out. */
  readonly gaps: number;
}

export type ChainReport = { readonly ok: true; readonly extent: AuditExtent } | { readonly ok: false; readonly fault: AuditFault };

/**
 * Recomputes the hash of every line and follows the chain.
 *
 * @param extent `all`: the chain must begin with its first line and no line may be left out; `some`: lines of a filtered export
 * @param expected lines that must be there: hashes by id, and a hash of any line
 */
export function createChainCheck(
  extent: "all" | "some",
  expected: { readonly lines?: ReadonlyMap<number, string>; readonly head?: string | undefined } = {},
) {
  const missing = new Map(expected.lines);
  let headMissing = expected.head !== undefined;
  let [lines, gaps] = [0, 0];
  let first: LinkedRecord | null = null;
  let last: LinkedRecord | null = null;
  return {
    /** Takes the next line, in the order of the chain; null: it is as it was written. */
    add(record: LinkedRecord): AuditFault | null {
      const fault = faultOf(record, last, extent);
      if (fault !== null) return fault;
      if (last !== null && record.previous !== last.hash) gaps += 1;
      lines += 1;
      first ??= record;
      last = record;
      if (missing.get(record.id) === record.hash) missing.delete(record.id);
      if (record.hash === expected.head) headMissing = false;
      return null;
    },
    /** After the last line. */
    end(): ChainReport {
      const [line] = [...missing.keys()].sort((a, b) => a - b);
      if (line !== undefined) return faulty("removed", `Line ${line} is not there as the exported file has it.`, line);
      if (headMissing)
        return faulty("head", `No line has the hash ${expected.head}: lines were removed or written anew since it was noted.`);
      return { ok: true, extent: { lines, first, last, gaps } };
    },
  };
}

/** A report of a fault. @param line id of the first bad line */
export const faulty = (kind: AuditFault["kind"], says: string, line: number | null = null): Extract<ChainReport, { ok: false }> => ({
  ok: false,
  fault: { kind, line, says },
});

function faultOf(record: LinkedRecord, before: LinkedRecord | null, extent: "all" | "some"): AuditFault | null {
  const { id, previous, hash } = record;
  if (before !== null && id <= before.id)
    return { kind: "order", line: id, says: `Line ${id} comes after line ${before.id}: the lines are not in the order of the chain.` };
  if (extent === "all" && before === null && previous !== genesisPrevious)
    return { kind: "begin", line: id, says: `The chain begins with line ${id}, which is not its first line.` };
  if (before !== null && id === before.id + 1 && previous !== before.hash)
    return { kind: "changed", line: id, says: `Line ${id} does not follow line ${before.id}: one of them was changed.` };
  if (chainHash(previous, record) === hash) return null;
  if (extent === "all" && id > (before?.id ?? genesisId - 1) + 1)
    return { kind: "removed", line: id, says: `Line ${id} does not follow the line before it: a line between them was removed.` };
  return { kind: "changed", line: id, says: changed(id, extent) };
}

const changed = (id: number, extent: "all" | "some"): string =>
  extent === "all"
    ? `Line ${id} does not match its hash: it, or the hash of the line before it, was changed after it was written.`
    : `Line ${id} does not match its hash: it was changed after it was written.`;
