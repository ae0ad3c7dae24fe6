import type { StoredBatch } from "@/server/store/batchRepository";
import { BatchProgress, type ProgressParts } from "./batchProgress";

/** Most batches held in memory: users look at one or two of them. */
const MOST_HELD = 8;

/** A batch that has ended. */
interface EndedBatch {
  readonly batch: StoredBatch;
  readonly standing: BatchProgress;
}

interface Held extends EndedBatch {
  /** Why it could not be read; null: it could, or is being read. */
  broken: { readonly error: unknown } | null;
}

/** Ended batches, for display. They are read until `signal` aborts. */
export function createEndedBatches(parts: ProgressParts, signal: AbortSignal) {
  const { batches } = parts.store;
  const held = new Map<string, Held>();

  function hold(one: Held): Held {
    const [oldest] = held.keys();
    if (held.size >= MOST_HELD && oldest !== undefined) held.delete(oldest);
    held.set(one.batch.id, one);
    return one;
  }

  function readAnew(batch: StoredBatch): EndedBatch {
    const one = hold({ batch, standing: new BatchProgress(batch, parts), broken: null });
    one.standing.read(signal).catch((error: unknown) => {
      one.broken = { error };
    });
    return one;
  }

  return {
    /**
     * Adds a batch that has just ended, with its final progress, which is not read again, unless it was stopped before it was read whole.
     */
    add(id: string, standing: BatchProgress): void {
      const batch = standing.questionsRead === null ? batches.get(id) : null;
      if (batch !== null) hold({ batch, standing, broken: null });
    },
    /**
     * The part that was read; reading begins with the first call; null: there is none.
     * @throws the disk's error: the next call reads it again.
     */
    get(id: string): EndedBatch | null {
      const known = batches.has(id) ? held.get(id) : undefined;
      if (known?.broken) {
        held.delete(id);
        throw known.broken.error;
      }
      if (known !== undefined) return known;
      const batch = batches.get(id);
      return batch && readAnew(batch);
    },
  };
}
