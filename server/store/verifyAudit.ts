import { existsSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { AuditFilter } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { headProblem, readAuditHead } from "./audit/auditHead";
import { type ChainReport, createChainCheck, faulty, type LinkedRecord } from "./audit/verifyChain";
import { lineUpTo, linkedRecords } from "./auditRepository";

const triggers = ["audit_refuses_delete", "audit_refuses_insert", "audit_refuses_update"];

/**
 * Verifies the audit of a state folder without changing anything: every line, the noted end and the triggers that refuse changes.
 *
 * @param expected lines that it must have, such as those of an export
 * @throws Error with one sentence if the folder has no store.
 */
export function verifyAudit(stateDir: string, expected: Parameters<typeof createChainCheck>[1] = {}): ChainReport {
  // Read before the lines: the studio may append, and note it, meanwhile.
  const head = readAuditHead(stateDir);
  const client = openStateToRead(stateDir);
  try {
    const db = drizzle(client, { casing: "snake_case" });
    const columns = client.pragma("table_info(audit)") as readonly { readonly name: string }[];
    if (!columns.some(({ name }) => name === "hash"))
      return faulty("unchained", "The audit is not chained yet: start the studio of this version once.");
    const check = createChainCheck("all", expected);
    for (const record of linkedRecords(db, {})) {
      const fault = check.add(record);
      if (fault !== null) return { ok: false, fault };
    }
    const report = check.end();
    const [whole] = client.pragma("integrity_check(audit)") as readonly { readonly integrity_check: string }[];
    if (whole?.integrity_check !== "ok") return faulty("unreadable", `The store's file is damaged: ${whole?.integrity_check}`);
    return report.ok ? (endFault(head, db) ?? triggerFault(client) ?? report) : report;
  } catch (problem) {
    return faulty("unreadable", `The store cannot be read: ${reasonOf(problem)}`);
  } finally {
    client.close();
  }
}

/**
 * The lines of a state folder's audit in the order of the chain, without changing anything.
 *
 * @throws Error with one sentence if the folder has no store.
 */
export function* auditRecords(stateDir: string, filter: AuditFilter): Generator<LinkedRecord> {
  const client = openStateToRead(stateDir);
  try {
    yield* linkedRecords(drizzle(client, { casing: "snake_case" }), filter);
  } finally {
    client.close();
  }
}

type Reader = Parameters<typeof linkedRecords>[0];

/** One state of the store, whatever is written meanwhile. */
function openStateToRead(stateDir: string): Sqlite.Database {
  const file = join(stateDir, "weir.db");
  if (!existsSync(file)) throw new Error(`${stateDir} has no store: name the state folder of a studio.`);
  const client = new Sqlite(file, { readonly: true });
  client.exec("BEGIN");
  return client;
}

function endFault(head: ReturnType<typeof readAuditHead>, db: Reader): ChainReport | null {
  if (head === null) return faulty("head", "There is no audit.head: whether lines were removed from the end is not known.");
  const problem = headProblem(head, head === "unreadable" ? null : lineUpTo(db, head.id));
  return problem === null ? null : faulty("head", problem);
}

function triggerFault(client: Sqlite.Database): ChainReport | null {
  const kept = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit'").pluck().all();
  const gone = triggers.filter((name) => !kept.includes(name));
  return gone.length === 0 ? null : faulty("triggers", `The store lacks ${gone.join(", ")}: changes of the audit are not refused.`);
}
