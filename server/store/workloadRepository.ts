import { desc, eq } from "drizzle-orm";
import type { WorkloadSummary } from "@/server/contracts/studio";
import type { Database } from "./database";
import { workloads } from "./schema";

/** Workloads: the summary for lists, the encoded whole for planning. */
export function createWorkloadRepository(db: Database) {
  return {
    insert(summary: WorkloadSummary, data: Buffer): void {
      db.insert(workloads).values({ id: summary.id, createdAt: summary.createdAt, summary, data }).run();
    },
    /** Newest first. */
    list(): readonly WorkloadSummary[] {
      const rows = db.select({ summary: workloads.summary }).from(workloads).orderBy(desc(workloads.createdAt)).all();
      return rows.map((row) => row.summary);
    },
    summary(id: string): WorkloadSummary | null {
      return db.select({ summary: workloads.summary }).from(workloads).where(eq(workloads.id, id)).get()?.summary ?? null;
    },
    data(id: string): Buffer | null {
      return db.select({ data: workloads.data }).from(workloads).where(eq(workloads.id, id)).get()?.data ?? null;
    },
    remove(id: string): boolean {
      return db.delete(workloads).where(eq(workloads.id, id)).run().changes > 0;
    },
  };
}
