import { asc, count, eq } from "drizzle-orm";
import type { JournalLine } from "@/server/contracts/studio";
import type { Database } from "./database";
import { journal } from "./schema/applications";

/** The actions of applications, line by line. Append-only. */
export function createJournalRepository(db: Database) {
  return {
    add(applicationId: string, line: JournalLine): void {
      db.insert(journal)
        .values({ applicationId, ...line })
        .run();
    },
    /** Oldest first. */
    of(applicationId: string): readonly JournalLine[] {
      const { at, stepId, event, detail } = journal;
      return db
        .select({ at, stepId, event, detail })
        .from(journal)
        .where(eq(journal.applicationId, applicationId))
        .orderBy(asc(journal.id))
        .all();
    },
    countOf(applicationId: string): number {
      return db.select({ lines: count() }).from(journal).where(eq(journal.applicationId, applicationId)).get()?.lines ?? 0;
    },
  };
}
