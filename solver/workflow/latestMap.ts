/** Entries in the order in which they were last put, and at most so many: beyond that the one put longest ago goes. */
export class LatestMap<Value> {
  private readonly entries = new Map<string, Value>();
  /** Goes on where it left off, since all before that are gone: from the start it would pass every entry that was ever taken out. */
  private readonly oldest = this.entries.keys();

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
    return this.entries.size > this.bound ? this.takeOldest() : undefined;
  }

  /** Takes out the one put longest ago; undefined where there is none. */
  takeOldest(): Value | undefined {
    // Of an iterator that has come to its end nothing more would come.
    if (this.entries.size === 0) return undefined;
    for (const key of this.oldest) {
      const gone = this.entries.get(key);
      this.entries.delete(key);
      return gone;
    }
    return undefined;
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
