import { reasonOf } from "@/server/lib/reasonOf";
import type { Database } from "./database";

/** Minimum time between two rebuilds that no caller waits for. */
const REST_MS = 60_000;

/** Delay after a failed attempt, for example on a full disk. */
const RETRY_MS = 3_600_000;

/** Values of `user_version`, which has no other use here: a rollback reverts it, and a crash does not lose it. */
const [CLEAN, DUE] = [0, 1];

const isDue = ({ $client }: Database): boolean => $client.pragma("user_version", { simple: true }) === DUE;

/** Call this in the transaction that deletes texts. */
export function noteDeleted(db: Database): void {
  if (!isDue(db)) db.$client.pragma(`user_version = ${DUE}`);
}

export type Scrubber = ReturnType<typeof createScrubber>;

/**
 * Removes deleted data from SQLite's files: rows that moved leave copies that `secure_delete` does not reach, and the log contains earlier
 * data. The file is rebuilt from its present content; nothing else runs meanwhile, some 9 ms per megabyte. If no texts were deleted since
 * the last time, nothing is done.
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
      // There is a reader: the log is emptied the next time.
      else after(REST_MS);
    } catch (problem) {
      process.stderr.write(`Copies of deleted texts may still be in weir.db: ${reasonOf(problem)}\n`);
      after(RETRY_MS);
    }
  }

  return {
    now,
    /** At once if the last time is a minute ago, otherwise then. */
    soon(): void {
      const waitMs = lastMs + REST_MS - performance.now();
      if (waitMs <= 0) now();
      else if (isDue(db)) after(waitMs);
    },
    /** Does the scheduled work now. */
    close(): void {
      if (timer !== undefined) now();
      clearTimeout(timer);
    },
  };
}
