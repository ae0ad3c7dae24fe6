import { and, desc, eq, getTableColumns, inArray } from "drizzle-orm";
import type { AuditLine } from "@/server/contracts/studio";
import type { Database } from "./database";
import { audit, gatewayAudits } from "./schema/users";

/** A line of a gateway's own audit, by which the next ones are asked for. */
export interface GatewayAuditMark {
  readonly sequence: number;
  readonly atMs: number;
}

/** Who changed what and when. Lines are only ever added. */
export function createAuditRepository(db: Database) {
  function add(line: AuditLine): void {
    db.insert(audit).values(line).run();
  }
  return {
    add,
    /** A line of this moment. */
    note: (actor: string, action: string, subject: string, detail = ""): void =>
      add({ at: new Date().toISOString(), actor, action, subject, detail }),
    /** Newest first: lines of a gateway may come in long after they were made. */
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
    /** The last line of the gateway's own audit that was taken; null before the first. */
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
