/** Maximum number of programs with state in a policy or a gateway at once, where nothing else bounds them. */
const MOST_PROGRAMS = 65_536;

/** Entries in the order of their last put, with a maximum number: beyond that the one put longest ago is evicted. */
export class BoundedMap<Value, Key extends string | number = string> {
  private readonly entries = new Map<Key, Value>();
  /** Continues where it stopped, since all entries before that are gone: from the start it would pass every removed entry. */
  private oldest = this.entries.keys();
  private changesSinceBegun = 0;
  /** The one put last; null where it was removed since. */
  private newest: Key | null = null;

  constructor(private readonly bound = MOST_PROGRAMS) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  has(key: Key): boolean {
    return this.entries.has(key);
  }

  /** The one put longest ago first. */
  values(): MapIterator<Value> {
    return this.entries.values();
  }

  /** Keys with values, in the same order. */
  items(): MapIterator<[Key, Value]> {
    return this.entries.entries();
  }

  /** @returns the evicted value; undefined if none had to be. */
  put(key: Key, value: Value): Value | undefined {
    // Put again, the last one keeps its place: removing it first would make the map rebuild its table over and over.
    const isNewest = key === this.newest;
    if (!isNewest) this.entries.delete(key);
    this.entries.set(key, value);
    if (isNewest) return undefined;
    this.newest = key;
    this.changed();
    return this.entries.size > this.bound ? this.takeOldest() : undefined;
  }

  /** Removes the one put longest ago; undefined where there is none. */
  takeOldest(): Value | undefined {
    // A finished iterator would return nothing more.
    if (this.entries.size === 0) return undefined;
    for (const key of this.oldest) {
      const gone = this.entries.get(key);
      this.entries.delete(key);
      if (key === this.newest) this.newest = null;
      return gone;
    }
    return undefined;
  }

  delete(key: Key): void {
    this.entries.delete(key);
    if (key === this.newest) this.newest = null;
    this.changed();
  }

  clear(): void {
    this.entries.clear();
    this.newest = null;
    this.changed();
  }

  /**
   * An iterator holds all entries that its map had since its last step, so it is renewed before these are much more than the current ones.
   */
  private changed(): void {
    this.changesSinceBegun += 1;
    if (this.changesSinceBegun <= this.entries.size) return;
    this.oldest = this.entries.keys();
    this.changesSinceBegun = 0;
  }
}
