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
export interface AuditExtent {
  readonly lines: number;
  readonly first: AuditRecord | null;
  readonly last: AuditRecord | null;
  /** Places where a filtered export leaves lines out. */
  readonly gaps: number;
}

export type ChainReport = { readonly ok: true; readonly extent: AuditExtent } | { readonly ok: false; readonly fault: AuditFault };

/**
 * Recomputes the hash of every line and follows the chain, to the first bad line.
 *
 * @param records in the order of the chain
 * @param extent `all`: the chain must begin with its first line and no line may be left out; `some`: lines of a filtered export
 */
export function verifyChain(records: Iterable<LinkedRecord>, extent: "all" | "some"): ChainReport {
  let [lines, gaps] = [0, 0];
  let first: LinkedRecord | null = null;
  let last: LinkedRecord | null = null;
  for (const record of records) {
    const fault = faultOf(record, last, extent);
    if (fault !== null) return { ok: false, fault };
    if (last !== null && record.previous !== last.hash) gaps += 1;
    lines += 1;
    first ??= record;
    last = record;
  }
  return { ok: true, extent: { lines, first, last, gaps } };
}

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
