/** Programs of which a policy or a gateway remembers something at once, where nothing else bounds them. */
const MOST_PROGRAMS = 65_536;

/** Entries in the order in which they were last put, and at most so many: beyond that the one put longest ago goes. */
export class BoundedMap<Value> {
  private readonly entries = new Map<string, Value>();
  /** Goes on where it left off, since all before that are gone: from the start it would pass every entry that was ever taken out. */
  private oldest = this.entries.keys();
  private changesSinceBegun = 0;

  constructor(private readonly bound = MOST_PROGRAMS) {}

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
    this.changed();
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
    this.changed();
  }

  clear(): void {
    this.entries.clear();
    this.changed();
  }

  /** An iterator holds on to all that its map had since it was last asked, so it is begun anew before that is much more than what is there. */
  private changed(): void {
    this.changesSinceBegun += 1;
    if (this.changesSinceBegun <= this.entries.size) return;
    this.oldest = this.entries.keys();
    this.changesSinceBegun = 0;
  }
}
