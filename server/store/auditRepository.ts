import { desc } from "drizzle-orm";
import type { AuditLine } from "@/server/contracts/studio";
import type { Database } from "./database";
import { audit } from "./schema";

/** Who changed what and when. Lines are only ever added. */
export function createAuditRepository(db: Database) {
  return {
    add(line: AuditLine): void {
      db.insert(audit).values(line).run();
    },
    /** Newest first. */
    list(limit: number): readonly AuditLine[] {
      const { at, actor, action, subject, detail } = audit;
      return db.select({ at, actor, action, subject, detail }).from(audit).orderBy(desc(audit.id)).limit(limit).all();
    },
  };
}
