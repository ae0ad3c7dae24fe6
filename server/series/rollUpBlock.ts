import { promisify } from "node:util";
import { deflateRaw, inflateRawSync, type ZlibOptions } from "node:zlib";
import type { Summary } from "./bucketGrid";

const compress = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** Roll-ups of each quantity in a block. */
export const BLOCK_BUCKETS = 60;

/** First byte of a block, for the day its shape changes. */
const SHAPE = 1;

/** Bytes before the names: the shape and the names' length. */
const HEAD_BYTES = 3;

const MOST = 0xffff;

const MIN = 0;
const MAX = BLOCK_BUCKETS;
const MEAN = 2 * BLOCK_BUCKETS;
const LAST = 3 * BLOCK_BUCKETS;
const LEVELS = 4 * BLOCK_BUCKETS;

/** One quantity: sixty least values, sixty greatest, means, last ones; and how many samples each is of. */
interface Columns {
  readonly levels: Float64Array;
  readonly count: Uint16Array;
}

/** Sixty consecutive roll-ups of every quantity of one subject: one row in the store. */
export class RollUpBlock {
  readonly #quantities = new Map<string, Columns>();

  /** Adds a sample to the bucket at a position, 0 to 59. */
  add(position: number, quantity: string, value: number): void {
    const { levels, count } = this.#quantities.get(quantity) ?? this.#put(quantity);
    const before = count[position] ?? 0;
    const level = (kind: number): number => levels[kind + position] ?? 0;
    levels[MIN + position] = before === 0 ? value : Math.min(level(MIN), value);
    levels[MAX + position] = before === 0 ? value : Math.max(level(MAX), value);
    levels[MEAN + position] = (level(MEAN) * before + value) / (before + 1);
    levels[LAST + position] = value;
    count[position] = Math.min(MOST, before + 1);
  }

  /** null: nothing was seen then. */
  at(position: number, quantity: string): Summary | null {
    const columns = this.#quantities.get(quantity);
    const count = columns?.count[position] ?? 0;
    if (columns === undefined || count === 0) return null;
    const level = (kind: number): number => columns.levels[kind + position] ?? 0;
    return { min: level(MIN), max: level(MAX), mean: level(MEAN), last: level(LAST), count };
  }

  /** Whether anything of the subject was seen in the bucket. */
  covered(position: number): boolean {
    for (const { count } of this.#quantities.values()) if (count[position] !== 0) return true;
    return false;
  }

  /**
   * The block as compressed bytes: column after column, and of each first all first bytes, then all second ones, so that a constant level,
   * whose least, greatest, mean and last are the same, costs next to nothing. Values added during the compression, on another thread, are
   * not in it.
   */
  encode(): Promise<Buffer> {
    const names = Buffer.from(JSON.stringify([...this.#quantities.keys()]), "utf8");
    const counts = new Uint16Array(this.#quantities.size * BLOCK_BUCKETS);
    const levels = new Float32Array(this.#quantities.size * LEVELS);
    for (const [at, columns] of [...this.#quantities.values()].entries()) {
      counts.set(columns.count, at * BLOCK_BUCKETS);
      levels.set(columns.levels, at * LEVELS);
    }
    shorten(levels);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(SHAPE, 0);
    head.writeUInt16LE(names.length, 1);
    // Measured on noise, which is the worst there is: harder levels take half as long again and save nothing.
    return compress(Buffer.concat([head, names, planes(counts), planes(levels)]), { level: 1 });
  }

  /** @returns null for bytes that are no such block. */
  static decode(bytes: Buffer): RollUpBlock | null {
    try {
      return RollUpBlock.#read(inflateRawSync(bytes));
    } catch {
      return null;
    }
  }

  static #read(raw: Buffer): RollUpBlock | null {
    const namesEnd = HEAD_BYTES + raw.readUInt16LE(1);
    const names = JSON.parse(raw.toString("utf8", HEAD_BYTES, namesEnd)) as readonly string[];
    const counts = new Uint16Array(names.length * BLOCK_BUCKETS);
    const levels = new Float32Array(names.length * LEVELS);
    const countsEnd = namesEnd + counts.byteLength;
    if (raw.readUInt8(0) !== SHAPE || raw.length !== countsEnd + levels.byteLength) return null;
    fromPlanes(raw.subarray(namesEnd, countsEnd), counts);
    fromPlanes(raw.subarray(countsEnd), levels);
    const block = new RollUpBlock();
    for (const [at, name] of names.entries()) {
      const columns = block.#put(name);
      columns.count.set(counts.subarray(at * BLOCK_BUCKETS, (at + 1) * BLOCK_BUCKETS));
      columns.levels.set(levels.subarray(at * LEVELS, (at + 1) * LEVELS));
    }
    return block;
  }

  #put(quantity: string): Columns {
    const columns = { levels: new Float64Array(LEVELS), count: new Uint16Array(BLOCK_BUCKETS) };
    this.#quantities.set(quantity, columns);
    return columns;
  }
}

/**
 * Rounds numbers to 16 significant bits, one part in 65,536, except integers of at most 24 bits: no chart shows the rest, and the fourth
 * byte of noise is incompressible.
 */
function shorten(numbers: Float32Array): void {
  const bits = new Uint32Array(numbers.buffer);
  for (const [at, value] of numbers.entries()) {
    if (!(Number.isInteger(value) && Math.abs(value) < 2 ** 24)) bits[at] = ((bits[at] ?? 0) + 0x80) & 0xffffff00;
  }
}

/** All first bytes of the numbers, then all second ones, and so on. */
function planes(numbers: Uint16Array | Float32Array): Buffer {
  const bytes = new Uint8Array(numbers.buffer);
  const out = Buffer.allocUnsafe(bytes.length);
  const size = numbers.BYTES_PER_ELEMENT;
  for (let part = 0; part < size; part += 1) {
    for (let at = 0; at < numbers.length; at += 1) out[part * numbers.length + at] = bytes[at * size + part] ?? 0;
  }
  return out;
}

/** Fills the numbers from the output of `planes`. */
function fromPlanes(split: Uint8Array, numbers: Uint16Array | Float32Array): void {
  const bytes = new Uint8Array(numbers.buffer);
  const size = numbers.BYTES_PER_ELEMENT;
  for (let part = 0; part < size; part += 1) {
    for (let at = 0; at < numbers.length; at += 1) bytes[at * size + part] = split[part * numbers.length + at] ?? 0;
  }
}
