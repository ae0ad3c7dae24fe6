import type { SeriesKey } from "@/server/contracts/studio/seriesRange";

export interface RingOptions {
  /** Rounds kept. */
  readonly rows: number;
  /** Series kept at most: each takes 4 bytes a row. */
  readonly maxSeries: number;
}

/** A series written in one of so many last rounds is alive: it is never given up for another, so that too many do not chase each other out. */
const ALIVE_ROUNDS = 10;

interface Column extends SeriesKey {
  readonly values: Float32Array;
  /** Number of the row it was last written in. */
  written: number;
}

/** The last rounds of all series of one cluster, in typed arrays. */
export interface SeriesRing {
  /**
   * Puts a value, or null for none, into the round of `atMs`: all values of one round carry the same time. Values are kept to 24 bits,
   * one part in 16 million.
   */
  append(atMs: number, subject: string, quantity: string, value: number | null): void;
  has(key: SeriesKey): boolean;
  keys(): readonly SeriesKey[];
  /** Earliest time of a round that is kept; Infinity before the first. */
  sinceMs(): number;
  /** Times of the stored rounds, as recorded: if the clock was set back, they go back too. */
  times(): readonly number[];
  /** Values in the rounds kept, in the order of `times` and without so many of its first; NaN is a gap. */
  values(key: SeriesKey, skipped?: number): Float32Array;
  /** Series given up so far, and values not taken, because there was no room. */
  dropped(): { readonly series: number; readonly values: number };
  /** Bytes of the arrays. */
  bytes(): number;
}

/**
 * A ring of rounds shared by all series, so that time is kept once and a series without a value in a round has a gap there. Where
 * there is no room for one more series, the one written longest ago goes; where all are alive, the new one's values are not taken.
 */
export function createSeriesRing({ rows, maxSeries }: RingOptions): SeriesRing {
  const atMs = new Float64Array(rows);
  /** Rounds begun so far; round `n` is in slot `n % rows`. */
  let begun = 0;
  const dropped = { series: 0, values: 0 };
  const subjects = new Map<string, Map<string, Column>>();
  let size = 0;

  const find = (subject: string, quantity: string): Column | undefined => subjects.get(subject)?.get(quantity);

  const all = function* (): Generator<Column> {
    for (const columns of subjects.values()) yield* columns.values();
  };

  /** Gives up the series that has been silent longest; false when all are alive. */
  function makeRoom(): boolean {
    let oldest: Column | undefined;
    for (const column of all()) if (oldest === undefined || column.written < oldest.written) oldest = column;
    if (oldest === undefined || oldest.written >= begun - ALIVE_ROUNDS) return false;
    const columns = subjects.get(oldest.subject);
    columns?.delete(oldest.quantity);
    if (columns?.size === 0) subjects.delete(oldest.subject);
    size -= 1;
    dropped.series += 1;
    return true;
  }

  function add(subject: string, quantity: string): Column | undefined {
    if (size >= maxSeries && !makeRoom()) return undefined;
    const column: Column = { subject, quantity, values: new Float32Array(rows).fill(Number.NaN), written: begun - 2 };
    const columns = subjects.get(subject) ?? new Map<string, Column>();
    subjects.set(subject, columns.set(quantity, column));
    size += 1;
    return column;
  }

  /** Makes gaps of the rounds after the last one written, up to before `round`: their slots hold values of an earlier turn. */
  function skipTo(column: Column, round: number): void {
    for (let at = Math.max(column.written + 1, round - rows); at < round; at += 1) column.values[at % rows] = Number.NaN;
  }

  return {
    append(at, subject, quantity, value) {
      if (begun === 0 || atMs[(begun - 1) % rows] !== at) {
        atMs[begun % rows] = at;
        begun += 1;
      }
      const known = find(subject, quantity);
      // A quantity that an engine does not have takes no room.
      if (known === undefined && value === null) return;
      const column = known ?? add(subject, quantity);
      if (column === undefined) {
        dropped.values += 1;
        return;
      }
      const round = begun - 1;
      skipTo(column, round);
      column.values[round % rows] = value ?? Number.NaN;
      column.written = round;
    },
    has: ({ subject, quantity }) => find(subject, quantity) !== undefined,
    keys: () => [...all()].map(({ subject, quantity }) => ({ subject, quantity })),
    sinceMs: () => atMs.subarray(0, Math.min(begun, rows)).reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
    times: () => Array.from({ length: Math.min(begun, rows) }, (_, at) => atMs[(Math.max(0, begun - rows) + at) % rows] ?? 0),
    values({ subject, quantity }, skipped = 0) {
      const first = Math.max(0, begun - rows) + skipped;
      const kept = new Float32Array(begun - first).fill(Number.NaN);
      const column = find(subject, quantity);
      if (column === undefined) return kept;
      for (let round = first; round <= column.written; round += 1) kept[round - first] = column.values[round % rows] ?? Number.NaN;
      return kept;
    },
    dropped: () => ({ ...dropped }),
    bytes: () => atMs.byteLength + size * rows * Float32Array.BYTES_PER_ELEMENT,
  };
}
