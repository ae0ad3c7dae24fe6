import { desc, eq, max, sql } from "drizzle-orm";
import type { WorkloadLineage, WorkloadSummary } from "@/server/contracts/studio";
import type { Database } from "./database";
import { workloads } from "./schema";

/** What is put down of a workload beside its content: the store counts its version. */
export type NewWorkload = Omit<WorkloadSummary, "version">;

const columns = {
  summary: workloads.summary,
  version: workloads.version,
  parentId: workloads.parentId,
  profileId: workloads.profileId,
};

const whole = ({ summary, ...lineage }: { readonly summary: Omit<WorkloadSummary, keyof WorkloadLineage> } & WorkloadLineage) => ({
  ...summary,
  ...lineage,
});

/** Workloads: the summary for lists, the encoded whole for planning. */
export function createWorkloadRepository(db: Database) {
  return {
    insert({ parentId, profileId, ...summary }: NewWorkload, data: Buffer): void {
      const named = sql`json_extract(${workloads.summary}, '$.name') = ${summary.name}`;
      const latest =
        db
          .select({ version: max(workloads.version) })
          .from(workloads)
          .where(named)
          .get()?.version ?? 0;
      db.insert(workloads)
        .values({ id: summary.id, createdAt: summary.createdAt, summary, data, version: latest + 1, parentId, profileId })
        .run();
    },
    /** Newest first. */
    list(): readonly WorkloadSummary[] {
      return db.select(columns).from(workloads).orderBy(desc(workloads.createdAt)).all().map(whole);
    },
    summary(id: string): WorkloadSummary | null {
      const row = db.select(columns).from(workloads).where(eq(workloads.id, id)).get();
      return row === undefined ? null : whole(row);
    },
    data(id: string): Buffer | null {
      return db.select({ data: workloads.data }).from(workloads).where(eq(workloads.id, id)).get()?.data ?? null;
    },
    remove(id: string): boolean {
      return db.delete(workloads).where(eq(workloads.id, id)).run().changes > 0;
    },
  };
}
