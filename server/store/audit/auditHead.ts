import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const auditHeadSchema = z.object({
  /** The newest line when it was written. */
  id: z.int().nonnegative(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** Lines up to it. */
  count: z.int().positive(),
});
export type AuditHead = z.infer<typeof auditHeadSchema>;

const nameIn = (stateDir: string): string => join(stateDir, "audit.head");

/** The noted end of the audit; null: it was not noted, `unreadable`: the file is not one that Weir wrote. */
export function readAuditHead(stateDir: string): AuditHead | null | "unreadable" {
  try {
    return auditHeadSchema.parse(JSON.parse(readFileSync(nameIn(stateDir), "utf8")));
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === "ENOENT" ? null : "unreadable";
  }
}

/**
 * Notes the end of the audit in `audit.head`, readable by this user only: a store whose last lines were removed does not contain it.
 *
 * @throws Error where the file cannot be written; the earlier one stays.
 */
export function writeAuditHead(stateDir: string, head: AuditHead): void {
  const name = nameIn(stateDir);
  const next = `${name}.${process.pid}`;
  const file = openSync(next, "w", 0o600);
  try {
    writeSync(file, `${JSON.stringify(head)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, name);
}

/**
 * Why the noted end is not in the store, in a sentence; null: it is.
 *
 * @param found the store's line of that id and, unless the number is not compared, its lines up to it
 */
export function headProblem(
  head: AuditHead | "unreadable",
  found: { readonly hash: string; readonly count?: number } | null,
): string | null {
  if (head === "unreadable") return "audit.head cannot be read, so it is not known whether lines were removed from the end.";
  if (found === null) return `audit.head names line ${head.id}, which the store does not have: lines were removed from the end.`;
  if (found.hash !== head.hash) return `audit.head has another hash for line ${head.id}: lines were written anew.`;
  if (found.count !== undefined && found.count !== head.count)
    return `audit.head counts ${head.count} lines up to line ${head.id}, the store has ${found.count}.`;
  return null;
}
