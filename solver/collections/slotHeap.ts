/** Slot numbers, the least key first; ties by a separate order, so that no result depends on heap layout. */
export class SlotHeap {
  private readonly keys: Float64Array;
  private readonly orders: Float64Array;
  private readonly slots: Int32Array;
  private count = 0;

  constructor(capacity: number) {
    this.keys = new Float64Array(capacity);
    this.orders = new Float64Array(capacity);
    this.slots = new Int32Array(capacity);
  }

  /** Infinity when empty. */
  get leastKey(): number {
    return this.count === 0 ? Number.POSITIVE_INFINITY : (this.keys[0] ?? 0);
  }

  push(slot: number, key: number, order: number): void {
    this.rise(this.count++, slot, key, order);
  }

  /** Removes the slot with the least key; -1 when empty. */
  pop(): number {
    if (this.count === 0) return -1;
    const slot = this.slots[0] ?? -1;
    this.fillHole(0);
    return slot;
  }

  /** Removes one slot from any position, in time linear in the size: for rare events. */
  remove(slot: number): void {
    for (let at = 0; at < this.count; at++) {
      if (this.slots[at] === slot) {
        this.fillHole(at);
        return;
      }
    }
  }

  /** Moves the last entry into the place of the removed one. */
  private fillHole(hole: number): void {
    const last = --this.count;
    if (hole === last) return;
    const slot = this.slots[last] ?? -1;
    const key = this.keys[last] ?? 0;
    const order = this.orders[last] ?? 0;
    this.rise(this.sink(hole, key, order), slot, key, order);
  }

  /** Moves smaller children up into the hole until an entry with this key fits there; returns the hole's final position. */
  private sink(hole: number, key: number, order: number): number {
    let at = hole;
    for (let child = 2 * at + 1; child < this.count; child = 2 * at + 1) {
      const right = child + 1;
      if (right < this.count && this.precedes(right, this.keys[child] ?? 0, this.orders[child] ?? 0)) child = right;
      if (!this.precedes(child, key, order)) break;
      this.move(child, at);
      at = child;
    }
    return at;
  }

  /** Puts an entry into a hole, or above it where its key belongs. */
  private rise(hole: number, slot: number, key: number, order: number): void {
    let at = hole;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.precedes(parent, key, order)) break;
      this.move(parent, at);
      at = parent;
    }
    this.keys[at] = key;
    this.orders[at] = order;
    this.slots[at] = slot;
  }

  private precedes(at: number, key: number, order: number): boolean {
    const own = this.keys[at] ?? 0;
    return own < key || (own === key && (this.orders[at] ?? 0) < order);
  }

  private move(from: number, to: number): void {
    this.keys[to] = this.keys[from] ?? 0;
    this.orders[to] = this.orders[from] ?? 0;
    this.slots[to] = this.slots[from] ?? -1;
  }
}
