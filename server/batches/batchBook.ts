import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";

export type BatchBook = ReturnType<typeof createBatchBook>;

interface Ended {
  readonly row: StoredBatchCall;
  readonly told: () => void;
}

/**
 * Puts calls down: those of one turn of the event loop together, since each transaction costs as much as many rows. What came of a call that
 * was made waits where the disk cannot take it, so that it is not made twice.
 */
export function createBatchBook(batchId: string, batches: Pick<Store["batches"], "saveCalls">) {
  let rows: StoredBatchCall[] = [];
  let flushed: Promise<void> | null = null;
  const unwritten = new Set<Ended>();

  function save(row: StoredBatchCall): Promise<void> {
    rows.push(row);
    flushed ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        const waiting = rows;
        [rows, flushed] = [[], null];
        try {
          batches.saveCalls(batchId, waiting);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return flushed;
  }

  async function write(ended: Ended): Promise<void> {
    try {
      await save(ended.row);
    } catch (error) {
      unwritten.add(ended);
      throw error;
    }
    ended.told();
  }

  return {
    /** A call is about to be made, or waits for another attempt. @throws what the disk throws. */
    save,
    /** A call is over; `told` when that is on disk. @throws what the disk throws: it waits then for `writeLeft`. */
    end: (row: StoredBatchCall, told: () => void): Promise<void> => write({ row, told }),
    /** Writes what could not be written. */
    async writeLeft(): Promise<void> {
      const left = [...unwritten];
      unwritten.clear();
      await Promise.all(left.map(write));
    },
  };
}
