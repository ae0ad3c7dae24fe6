import { batchedWrite } from "@/server/store/batchedWrite";
import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";

export type BatchBook = ReturnType<typeof createBatchBook>;

interface Ended {
  /** null: it is on disk already. */
  readonly row: StoredBatchCall | null;
  readonly told: () => void;
}

/**
 * Puts calls down, those of one turn of the event loop together. What came of a call that was made waits where the disk cannot take it, so
 * that it is not made twice; so does word of it where whoever is told fails, so that nothing waits for it for ever.
 */
export function createBatchBook(batchId: string, batches: Pick<Store["batches"], "saveCalls">) {
  let rows: StoredBatchCall[] = [];
  const left = new Set<Ended>();
  const flush = batchedWrite(() => {
    const waiting = rows;
    rows = [];
    batches.saveCalls(batchId, waiting);
  });

  function save(row: StoredBatchCall): Promise<void> {
    rows.push(row);
    return flush();
  }

  async function write(ended: Ended): Promise<void> {
    const { row, told } = ended;
    let isKept = row === null;
    try {
      if (row !== null) await save(row);
      isKept = true;
      told();
    } catch (error) {
      left.add(isKept ? { row: null, told } : ended);
      throw error;
    }
  }

  return {
    /** A call is about to be made, or waits for another attempt. @throws what the disk throws. */
    save,
    /** A call is over; `told` when that is on disk, and once more where it throws, which must leave everything as it was. @throws what either throws: it waits then for `writeLeft`. */
    end: (row: StoredBatchCall, told: () => void): Promise<void> => write({ row, told }),
    /** Writes what could not be written, and tells of it. */
    async writeLeft(): Promise<void> {
      const again = [...left];
      left.clear();
      await Promise.all(again.map(write));
    },
  };
}
