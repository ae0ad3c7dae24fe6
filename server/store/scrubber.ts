import { reasonOf } from "@/server/lib/reasonOf";
import type { Database } from "./database";

/** From one building anew to the next, where nobody waits for it. */
const REST_MS = 60_000;

/** Before another attempt where one failed, as on a full disk. */
const RETRY_MS = 3_600_000;

/** Of `user_version`, which is of no other use here: a rollback takes it back, and a crash does not lose it. */
const [CLEAN, DUE] = [0, 1];

const isDue = ({ $client }: Database): boolean => $client.pragma("user_version", { simple: true }) === DUE;

/** Said in the transaction that deletes texts. */
export function noteDeleted(db: Database): void {
  if (!isDue(db)) db.$client.pragma(`user_version = ${DUE}`);
}

export type Scrubber = ReturnType<typeof createScrubber>;

/**
 * Takes what was deleted out of SQLite's files: rows that moved leave copies behind that `secure_delete` does not reach, and the log holds
 * what was there before. The file is built anew of what is still in it; nothing else runs meanwhile, some 9 ms for a megabyte. Where texts
 * were not deleted since the last time, nothing is done.
 */
export function createScrubber(db: Database) {
  const { $client } = db;
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function after(ms: number): void {
    timer ??= setTimeout(now, ms).unref();
  }

  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isDue(db)) return;
    lastMs = performance.now();
    try {
      $client.exec("VACUUM");
      const [log] = $client.pragma("wal_checkpoint(TRUNCATE)") as readonly { readonly busy: number }[];
      if (log?.busy === 0) $client.pragma(`user_version = ${CLEAN}`);
      // Somebody reads: the log is emptied the next time.
      else after(REST_MS);
    } catch (problem) {
      process.stderr.write(`Copies of deleted texts may still be in weir.db: ${reasonOf(problem)}\n`);
      after(RETRY_MS);
    }
  }

  return {
    now,
    /** At once where the last time is a minute ago, else when it is. */
    soon(): void {
      const waitMs = lastMs + REST_MS - performance.now();
      if (waitMs <= 0) now();
      else if (isDue(db)) after(waitMs);
    },
    /** Does now what was to be done later. */
    close(): void {
      if (timer !== undefined) now();
      clearTimeout(timer);
    },
  };
}
