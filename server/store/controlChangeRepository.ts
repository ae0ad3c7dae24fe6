import { desc, eq, getTableColumns } from "drizzle-orm";
import type { ControlChange } from "@/server/contracts/studio";
import type { Database } from "./database";
import { controlChanges } from "./schema/clusters";

/** Changes of the controls of running clusters. Append-only. */
export function createControlChangeRepository(db: Database) {
  return {
    insert(change: ControlChange): void {
      db.insert(controlChanges).values(change).run();
    },
    /** The newest of a cluster; null: its controls were never changed. */
    last(clusterId: string): ControlChange | null {
      const { id, ...columns } = getTableColumns(controlChanges);
      return (
        db.select(columns).from(controlChanges).where(eq(controlChanges.clusterId, clusterId)).orderBy(desc(id)).limit(1).get() ?? null
      );
    },
  };
}
