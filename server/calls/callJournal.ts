import { batchedWrite } from "@/server/store/batchedWrite";

export type CallJournal<Row> = ReturnType<typeof createCallJournal<Row>>;

interface Ended<Row> {
  /** null: it is on disk already. */
  readonly row: Row | null;
  readonly ended: () => void;
}

/**
 * Records calls, those of one turn of the event loop together. The outcome of a call that was made waits where the disk cannot take it, so that
 * the call is not made twice; so does word of it where whoever is told fails, so that nothing waits for it for ever.
 *
 * @param write writes rows in one transaction. @throws what the disk throws.
 */
export function createCallJournal<Row>(write: (rows: readonly Row[]) => void) {
  let rows: Row[] = [];
  const left = new Set<Ended<Row>>();

  /** Where it fails, whoever saved these rows has them yet. */
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
    /** A call is about to be made, or waits for another attempt. @throws what the disk throws. */
    save,
    /** A call is over; `ended` is called when that is on disk, and once more where it throws, which must leave everything as it was. @throws what either throws: it waits then for `writeLeft`. */
    end: (row: Row, ended: () => void): Promise<void> => end({ row, ended }),
    /** Writes what could not be written, and tells of it. */
    async writeLeft(): Promise<void> {
      const again = [...left];
      left.clear();
      await Promise.all(again.map(end));
    },
    /** Writes what waits for the next turn, at once; where that fails it waits on. */
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
