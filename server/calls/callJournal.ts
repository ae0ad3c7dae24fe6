import { batchedWrite } from "@/server/store/batchedWrite";

export type CallJournal<Row> = ReturnType<typeof createCallJournal<Row>>;

interface Ended<Row> {
  /** null: it is on disk already. */
  readonly row: Row | null;
  readonly ended: () => void;
}

/**
 * Records calls, those of one turn of the event loop together. The outcome of a completed call is held if the disk cannot store it, so that
 * the call is not made twice; so is its notification if the receiver fails, so that nothing waits for it forever.
 *
 * @param write writes rows in one transaction. @throws the disk's errors.
 */
export function createCallJournal<Row>(write: (rows: readonly Row[]) => void) {
  let rows: Row[] = [];
  const left = new Set<Ended<Row>>();

  /** If it fails, the caller that saved these rows still has them. */
  function writeRows(): void {
    const waiting = rows;
    rows = [];
    write(waiting);
  }

  const later = batchedWrite(writeRows);

  function save(row: Row): Promise<void> {
    rows.push(row);
    return later();
  }

  async function end(one: Ended<Row>): Promise<void> {
    const { row, ended } = one;
    let isKept = row === null;
    try {
      if (row !== null) await save(row);
      isKept = true;
      ended();
    } catch (error) {
      left.add(isKept ? { row: null, ended } : one);
      throw error;
    }
  }

  return {
    /**
     * A call is about to be made, or waits for another attempt.
     * @throws the disk's errors.
     */
    save,
    /**
     * A call has ended; `ended` is called when that is on disk, and again if it throws, which must leave everything unchanged.
     * @throws the errors of either: it then waits for `writeLeft`.
     */
    end: (row: Row, ended: () => void): Promise<void> => end({ row, ended }),
    /** Writes the rows that could not be written, and sends their notifications. */
    async writeLeft(): Promise<void> {
      const again = [...left];
      left.clear();
      await Promise.all(again.map(end));
    },
    /** Writes the rows of the next turn, at once; on a failure they keep waiting. */
    flush(): void {
      const waiting = rows;
      try {
        writeRows();
      } catch (error) {
        rows = waiting;
        throw error;
      }
    },
  };
}
