import { asc, desc, eq, max, sql } from "drizzle-orm";
import type { WorkloadLineage, WorkloadSummary } from "@/server/contracts/studio";
import type { Database } from "./database";
import { profiles } from "./schema/profiles";
import { promptSets } from "./schema/prompts";
import { workloads } from "./schema/workloads";

/** The stored data of a workload in addition to its content: the store counts its version. */
export type NewWorkload = Omit<WorkloadSummary, "version">;

const columns = {
  summary: workloads.summary,
  version: workloads.version,
  parentId: workloads.parentId,
  profileId: workloads.profileId,
};

const whole = ({ summary, ...lineage }: { readonly summary: Omit<WorkloadSummary, keyof WorkloadLineage> } & WorkloadLineage) => ({
  ...summary,
  // Earlier versions wrote it only in the text.
  ...(summary.outcomesFrom?.startsWith("seen at the gateway;") && { observed: true as const }),
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
    /** Those derived from it, oldest first. */
    children(id: string): readonly WorkloadSummary[] {
      return db.select(columns).from(workloads).where(eq(workloads.parentId, id)).orderBy(asc(workloads.createdAt)).all().map(whole);
    },
    /** The job that measured outcomes, and its sample of prompts; null: there is no such job. */
    measuredBy(profileId: string) {
      const row = db
        .select({ id: profiles.id, request: profiles.request, promptSetId: promptSets.id, promptSet: promptSets.summary })
        .from(profiles)
        .innerJoin(promptSets, eq(promptSets.id, profiles.promptSetId))
        .where(eq(profiles.id, profileId))
        .get();
      if (row === undefined) return null;
      return { job: { id: row.id, name: row.request.name }, promptSet: { id: row.promptSetId, name: row.promptSet.name } };
    },
    data(id: string): Buffer | null {
      return db.select({ data: workloads.data }).from(workloads).where(eq(workloads.id, id)).get()?.data ?? null;
    },
    remove(id: string): boolean {
      return db.delete(workloads).where(eq(workloads.id, id)).run().changes > 0;
    },
  };
}
