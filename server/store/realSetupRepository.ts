import type { Database } from "./database";
import type { RealSetupRecord } from "./documents/realSetupRecord";
import { realSetups } from "./schema/realSetup";

/** The only row. */
const ID = 1;

/** The set-up of real models on this computer. */
export function createRealSetupRepository(db: Database) {
  return {
    /** null: it was never started, or everything was removed. */
    get: (): RealSetupRecord | null => db.select().from(realSetups).get()?.record ?? null,
    save(record: RealSetupRecord): void {
      db.insert(realSetups).values({ id: ID, record }).onConflictDoUpdate({ target: realSetups.id, set: { record } }).run();
    },
    remove(): void {
      db.delete(realSetups).run();
    },
  };
}
