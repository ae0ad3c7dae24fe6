import { desc, eq, lte, sql } from "drizzle-orm";
import type { SessionRow } from "@/solver/ensemble/sessionRow";
import type { Database } from "./database";
import { sessionRows } from "./schema/ensembles";

/** Rows that are kept in all: costs are fitted to some dozen of a model. */
const mostRows = 20_000;

/** Rows of one type of GPU that are read. */
const mostRead = 2_000;

const gpuOfRow = sql`json_extract(${sessionRows.row}, '$.gpu')`;

/** Sessions of experts as they were measured, which session costs are fitted to. */
export function createSessionRowRepository(db: Database) {
  return {
    /** The oldest beyond twenty thousand goes. */
    add(row: SessionRow): void {
      const { lastInsertRowid } = db.insert(sessionRows).values({ at: new Date().toISOString(), row }).run();
      db.delete(sessionRows)
        .where(lte(sessionRows.id, Number(lastInsertRowid) - mostRows))
        .run();
    },
    /** On a type of GPU, newest first, the latest two thousand. */
    list(gpu: string): readonly SessionRow[] {
      return db
        .select({ row: sessionRows.row })
        .from(sessionRows)
        .where(eq(gpuOfRow, gpu))
        .orderBy(desc(sessionRows.id))
        .limit(mostRead)
        .all()
        .map(({ row }) => row);
    },
  };
}
