/** Entries in the order in which they were last put, and at most so many: beyond that the one put longest ago goes. */
export class LatestMap<Value> {
  private readonly entries = new Map<string, Value>();
  /** Goes on where it left off, since all before that are gone: from the start it would pass every entry that was ever taken out. */
  private oldest = this.entries.keys();

  constructor(private readonly bound: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** The one put longest ago first. */
  values(): MapIterator<Value> {
    return this.entries.values();
  }

  /** @returns what went for it; undefined where nothing had to. */
  put(key: string, value: Value): Value | undefined {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.bound) return undefined;
    const next = this.oldest.next();
    if (next.done) {
      this.oldest = this.entries.keys();
      return undefined;
    }
    const gone = this.entries.get(next.value);
    this.entries.delete(next.value);
    return gone;
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
