import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";

/** Its tables are in `schema/`. All their times as text are ISO 8601 in UTC, so that text order is time order. */
export type Database = BetterSQLite3Database & { readonly $client: Sqlite.Database };

/** Time for which a writer waits for another process (the command line) before it fails. */
const busyTimeoutMs = 5_000;

/** Folder of the committed migrations; the studio and the command line start at the repository root or set WEIR_ROOT. */
const migrationsFolder = (): string => join(process.env.WEIR_ROOT ?? process.cwd(), "server", "store", "migrations");

/**
 * Opens `weir.db` in the state folder, creating both, and brings its tables up to date.
 *
 * @throws Error with one sentence and the remedy if the folder cannot be written.
 */
export function openDatabase(stateDir: string): Database {
  try {
    mkdirSync(stateDir, { recursive: true });
    accessSync(stateDir, constants.W_OK);
  } catch (cause) {
    throw new Error(`No permission to write ${stateDir}: change its owner, or set WEIR_STATE_DIR to a folder you may write.`, { cause });
  }
  const file = join(stateDir, "weir.db");
  const client = new Sqlite(file, { timeout: busyTimeoutMs });
  // Connections contain the addresses of engines. SQLite's companion files get the file's own mode.
  chmodSync(file, 0o600);
  client.pragma("journal_mode = WAL");
  client.pragma("foreign_keys = ON");
  // Most deleted data is overwritten at once; `createScrubber` handles the rest.
  client.pragma("secure_delete = ON");
  const database = drizzle(client, { casing: "snake_case" });
  migrate(database, { migrationsFolder: migrationsFolder() });
  return database;
}
