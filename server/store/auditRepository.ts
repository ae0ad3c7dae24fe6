import { and, desc, eq, getTableColumns, inArray } from "drizzle-orm";
import type { AuditLine } from "@/server/contracts/studio";
import type { Database } from "./database";
import { audit, gatewayAudits } from "./schema/users";

/** Position in a gateway's own audit, from which the next lines are requested. */
export interface GatewayAuditMark {
  readonly sequence: number;
  readonly atMs: number;
}

/** Who changed what and when. Append-only. */
export function createAuditRepository(db: Database) {
  function add(line: AuditLine): void {
    db.insert(audit).values(line).run();
  }
  return {
    add,
    /** Adds a line with the present time. */
    note: (actor: string, action: string, subject: string, detail = ""): void =>
      add({ at: new Date().toISOString(), actor, action, subject, detail }),
    /** Newest first: lines of a gateway may arrive long after they were written. */
    list(limit: number): readonly AuditLine[] {
      const { at, actor, action, subject, detail } = audit;
      return db.select({ at, actor, action, subject, detail }).from(audit).orderBy(desc(at), desc(audit.id)).limit(limit).all();
    },
    /** The newest line of these actions on a subject; null: there is none. */
    last(subject: string, actions: readonly string[]): AuditLine | null {
      const { id, ...columns } = getTableColumns(audit);
      const asked = and(eq(audit.subject, subject), inArray(audit.action, [...actions]));
      return db.select(columns).from(audit).where(asked).orderBy(desc(id)).limit(1).get() ?? null;
    },
    /** The last line of the gateway's own audit that was copied; null before the first. */
    taken(clusterId: string): GatewayAuditMark | null {
      const { sequence, atMs } = gatewayAudits;
      return db.select({ sequence, atMs }).from(gatewayAudits).where(eq(gatewayAudits.clusterId, clusterId)).get() ?? null;
    },
    markTaken(clusterId: string, { sequence, atMs }: GatewayAuditMark): void {
      db.insert(gatewayAudits)
        .values({ clusterId, sequence, atMs })
        .onConflictDoUpdate({ target: gatewayAudits.clusterId, set: { sequence, atMs } })
        .run();
    },
  };
}
