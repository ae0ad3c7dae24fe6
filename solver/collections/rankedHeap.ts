/** An entry of a heap, ordered by `key`, of equal keys by `tie`, of these by `order`. */
export interface Ranked {
  readonly key: number;
  readonly tie: number;
  /** Unique within one heap, so that no result depends on its layout. */
  readonly order: number;
}

/** A binary heap of entries whose rank does not change while they are in it. */
export class RankedHeap<Entry extends Ranked> {
  private readonly entries: Entry[];

  /** @param entries the initial entries; the heap owns the array from then on. */
  constructor(entries: Entry[] = []) {
    this.entries = entries;
    for (let at = (entries.length >> 1) - 1; at >= 0; at -= 1) this.sink(at, entries[at] as Entry);
  }

  get size(): number {
    return this.entries.length;
  }

  push(entry: Entry): void {
    const { entries } = this;
    let at = entries.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent] as Entry;
      if (precedes(above, entry)) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }

  /** Removes the first; undefined when there is none. */
  pop(): Entry | undefined {
    const first = this.entries[0];
    const moved = this.entries.pop();
    if (moved !== undefined && this.entries.length > 0) this.sink(0, moved);
    return first;
  }

  /** All entries, in no order. */
  all(): readonly Entry[] {
    return this.entries;
  }

  /** Moves children that go before the entry up into the hole until the entry fits there. */
  private sink(hole: number, entry: Entry): void {
    const { entries } = this;
    let at = hole;
    for (let child = 2 * at + 1; child < entries.length; child = 2 * at + 1) {
      if (child + 1 < entries.length && precedes(entries[child + 1] as Entry, entries[child] as Entry)) child += 1;
      if (precedes(entry, entries[child] as Entry)) break;
      entries[at] = entries[child] as Entry;
      at = child;
    }
    entries[at] = entry;
  }
}

function precedes(one: Ranked, other: Ranked): boolean {
  if (one.key !== other.key) return one.key < other.key;
  return one.tie === other.tie ? one.order < other.order : one.tie < other.tie;
}
