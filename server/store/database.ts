import { accessSync, chmodSync, constants } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { ensurePrivateFolder } from "@/server/lib/privateFolder";

/** Its tables are in `schema/`. All their times as text are ISO 8601 in UTC, so that text order is time order. */
export type Database = BetterSQLite3Database & { readonly $client: Sqlite.Database };

/** Time for which a writer waits for another process (the command line) before it fails. */
const busyTimeoutMs = 5_000;

/** Folder of the committed migrations; the studio and the command line start at the repository root or set WEIR_ROOT. */
const migrationsFolder = (): string => join(process.env.WEIR_ROOT ?? process.cwd(), "server", "store", "migrations");

/**
 * Opens `weir.db` in the state folder, creating both, and brings its tables up to date. The folder is closed to other users, with a line on
 * stderr if it was not.
 *
 * @throws Error with one sentence and the remedy if the folder cannot be written, or users share it.
 */
export function openDatabase(stateDir: string): Database {
  const repaired = privateFolder(stateDir);
  if (repaired !== null) process.stderr.write(`${repaired}\n`);
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

function privateFolder(stateDir: string): string | null {
  try {
    const repaired = ensurePrivateFolder(stateDir);
    accessSync(stateDir, constants.W_OK);
    return repaired;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause)
      throw new Error(`No permission to write ${stateDir}: change its owner, or set WEIR_STATE_DIR to a folder you may write.`, { cause });
    throw cause;
  }
}
