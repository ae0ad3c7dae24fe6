import { createHash } from "node:crypto";
import type { AuditRecord } from "@/server/contracts/studio";
import { canonicalJson } from "@/solver/plan/canonical";

/** A line without its hash. */
export type UnchainedRecord = Omit<AuditRecord, "hash">;

/** Id of the line that begins the chain. */
export const genesisId = 0;

/** Stands for the hash before the first line. */
export const genesisPrevious = "0".repeat(64);

/**
 * The canonical form of a line: canonical JSON of its members in camel case, those without a value left out, so that a member that a later
 * version adds does not change it.
 */
function canonicalLine(record: UnchainedRecord): string {
  const { id, at, actor, action, subject, detail, outcome, objectKind, objectId, clusterId, role, address, times } = record;
  const members = { id, at, actor, action, subject, detail, outcome, objectKind, objectId, clusterId, role, address, times };
  return canonicalJson(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)));
}

/**
 * The hash of a line: SHA-256, in hexadecimal, of the hash before it followed by its canonical form in UTF-8.
 *
 * @param previous 64 hexadecimal digits; `genesisPrevious` for the first line
 */
export const chainHash = (previous: string, record: UnchainedRecord): string =>
  createHash("sha256").update(previous).update(canonicalLine(record)).digest("hex");
