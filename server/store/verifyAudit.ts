import { existsSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { reasonOf } from "@/server/lib/reasonOf";
import { headProblem, readAuditHead } from "./audit/auditHead";
import { type AuditFault, type ChainReport, verifyChain } from "./audit/verifyChain";
import { lineUpTo, linkedRecords } from "./auditRepository";

const triggers = ["audit_refuses_delete", "audit_refuses_insert", "audit_refuses_update"];

const fault = (kind: AuditFault["kind"], says: string): ChainReport => ({ ok: false, fault: { kind, line: null, says } });

/**
 * Verifies the audit of a state folder without changing anything: every line, the noted end and the triggers that refuse changes.
 *
 * @param alsoHas hashes by id of lines that it must have, such as those of an export
 * @throws Error with one sentence if the folder has no store.
 */
export function verifyAudit(stateDir: string, alsoHas: ReadonlyMap<number, string> = new Map()): ChainReport {
  const file = join(stateDir, "weir.db");
  if (!existsSync(file)) throw new Error(`${stateDir} has no store: name the state folder of a studio.`);
  const client = new Sqlite(file, { readonly: true });
  try {
    const columns = client.pragma("table_info(audit)") as readonly { readonly name: string }[];
    if (!columns.some(({ name }) => name === "hash"))
      return fault("unchained", "The audit is not chained yet: start the studio of this version once.");
    // Read before the lines: the studio may append, and note it, meanwhile.
    const head = readAuditHead(stateDir);
    // One state of the store, whatever is written meanwhile.
    client.exec("BEGIN");
    const db = drizzle(client, { casing: "snake_case" });
    const missing = new Map(alsoHas);
    const report = verifyChain(
      (function* () {
        for (const record of linkedRecords(db, {})) {
          if (missing.get(record.id) === record.hash) missing.delete(record.id);
          yield record;
        }
      })(),
      "all",
    );
    if (!report.ok) return report;
    const [line] = [...missing.keys()].sort((a, b) => a - b);
    if (line !== undefined) {
      return { ok: false, fault: { kind: "removed", line, says: `The store does not have line ${line} as the file has it.` } };
    }
    if (head === null) return fault("head", "There is no audit.head: whether lines were removed from the end is not known.");
    const problem = headProblem(head, head === "unreadable" ? null : lineUpTo(db, head.id));
    if (problem !== null) return fault("head", problem);
    const kept = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit'").pluck().all();
    const gone = triggers.filter((name) => !kept.includes(name));
    if (gone.length > 0) return fault("triggers", `The store lacks ${gone.join(", ")}: changes of the audit are not refused.`);
    return report;
  } catch (problem) {
    return fault("unreadable", `The store cannot be read: ${reasonOf(problem)}`);
  } finally {
    client.close();
  }
}
