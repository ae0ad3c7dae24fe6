import { join } from "node:path";
import Sqlite from "better-sqlite3";

/** A studio that was asked to end may still be ending. */
const waitMs = 5_000;

/**
 * Locks the state folder for one studio: two would carry out the same application in parallel. The kernel releases the lock when the
 * process ends, in whatever way. The command line reads and writes the store without the lock.
 *
 * @returns a function that releases it.
 * @throws Error with one sentence if another studio has it.
 */
export function lockStateFolder(stateDir: string): () => void {
  const file = new Sqlite(join(stateDir, "studio.lock"), { timeout: waitMs });
  try {
    file.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    file.close();
    if (!(cause instanceof Sqlite.SqliteError) || cause.code !== "SQLITE_BUSY") throw cause;
    throw new Error(`Another studio uses ${stateDir}: stop it, or set WEIR_STATE_DIR to another folder.`, { cause });
  }
  return () => void file.close();
}
