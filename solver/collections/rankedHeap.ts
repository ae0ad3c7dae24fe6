/** What stands in a heap, the first by `key`, of equal keys by `tie`, of these by `order`. */
export interface Ranked {
  readonly key: number;
  readonly tie: number;
  /** Differs between all that stand in one heap, so that no result hangs on its layout. */
  readonly order: number;
}

/** A binary heap of entries whose rank stays as it is while they stand in it. */
export class RankedHeap<Entry extends Ranked> {
  private readonly entries: Entry[];

  /** @param entries what stands in it at first; the array is the heap's from then on. */
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

  /** Takes the first out; undefined when there is none. */
  pop(): Entry | undefined {
    const first = this.entries[0];
    const moved = this.entries.pop();
    if (moved !== undefined && this.entries.length > 0) this.sink(0, moved);
    return first;
  }

  /** All that stand in it, in no order. */
  all(): readonly Entry[] {
    return this.entries;
  }

  /** Lifts what goes before the entry into the hole until the entry may stand there. */
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
