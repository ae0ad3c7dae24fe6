import { eq } from "drizzle-orm";
import type { Database } from "./database";
import { schedules } from "./schema/clusters";

export type ScheduleRow = typeof schedules.$inferSelect;

/** Schedules of plans by time of day: one row per cluster. */
export function createScheduleRepository(db: Database) {
  return {
    save(row: ScheduleRow): void {
      const { clusterId: _, ...changes } = row;
      db.insert(schedules).values(row).onConflictDoUpdate({ target: schedules.clusterId, set: changes }).run();
    },
    remove(clusterId: string): void {
      db.delete(schedules).where(eq(schedules.clusterId, clusterId)).run();
    },
    get(clusterId: string): ScheduleRow | null {
      return db.select().from(schedules).where(eq(schedules.clusterId, clusterId)).get() ?? null;
    },
    list(): readonly ScheduleRow[] {
      return db.select().from(schedules).all();
    },
  };
}
