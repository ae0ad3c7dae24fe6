import { and, asc, desc, eq, getTableColumns, gte, sql } from "drizzle-orm";
import type { LabCell } from "@/server/contracts/studio";
import { withNewNames } from "@/solver/plan/deprecatedFields";
import type { Database } from "./database";
import { labCells, labRuns } from "./schema/lab";

export type StoredLabRun = typeof labRuns.$inferSelect;
/** A run without its cells, which may be megabytes. */
export type StoredLabSummary = StoredLabRun & { readonly cellsDone: number };

const readable = (run: StoredLabSummary): StoredLabSummary => ({
  ...run,
  spec: { ...run.spec, systems: run.spec.systems.map((system) => ({ ...system, policy: withNewNames(system.policy) })) },
});

/** Runs of the lab. */
export function createLabRepository(db: Database) {
  const columns = {
    ...getTableColumns(labRuns),
    // Counted in the index: no cell is read.
    cellsDone: sql<number>`(select count(*) from lab_cells where lab_cells.run_id = lab_runs.id)`,
  };
  return {
    insert(run: StoredLabRun): void {
      db.insert(labRuns).values(run).run();
    },
    get(id: string): StoredLabSummary | null {
      const run = db.select(columns).from(labRuns).where(eq(labRuns.id, id)).get();
      return run === undefined ? null : readable(run);
    },
    /** Newest first. */
    list(): readonly StoredLabSummary[] {
      return db.select(columns).from(labRuns).orderBy(desc(labRuns.createdAt)).all().map(readable);
    },
    /** In the order of their completion, without the first `since`. */
    cells(id: string, since = 0): readonly LabCell[] {
      const rows = db
        .select({ cell: labCells.cell })
        .from(labCells)
        .where(and(eq(labCells.runId, id), gte(labCells.position, since)))
        .orderBy(asc(labCells.position))
        .all();
      return rows.map(({ cell }) => cell);
    },
    addCell(runId: string, position: number, cell: LabCell): void {
      db.insert(labCells).values({ runId, position, cell }).run();
    },
    setState(id: string, state: StoredLabRun["state"], problem: string | null = null): void {
      db.update(labRuns).set({ state, problem }).where(eq(labRuns.id, id)).run();
    },
    /** Interrupts runs that were running when the studio ended; their results stay. */
    interruptRunning(problem: string): void {
      db.update(labRuns).set({ state: "interrupted", problem }).where(eq(labRuns.state, "running")).run();
    },
    remove(id: string): void {
      db.delete(labCells).where(eq(labCells.runId, id)).run();
      db.delete(labRuns).where(eq(labRuns.id, id)).run();
    },
  };
}
