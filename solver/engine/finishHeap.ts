/** Running sequences by the engine step at which they finish; ties by arrival order, so that no result hangs on heap layout. */
export class FinishHeap {
  private readonly steps: Float64Array;
  private readonly orders: Float64Array;
  private readonly slots: Int32Array;
  private count = 0;

  constructor(capacity: number) {
    this.steps = new Float64Array(capacity);
    this.orders = new Float64Array(capacity);
    this.slots = new Int32Array(capacity);
  }

  /** Step of the next finish; Infinity when nothing runs. */
  get nextStep(): number {
    return this.count === 0 ? Number.POSITIVE_INFINITY : (this.steps[0] ?? 0);
  }

  push(slot: number, step: number, order: number): void {
    this.rise(this.count++, slot, step, order);
  }

  /** Takes the slot that finishes next; -1 when empty. */
  pop(): number {
    if (this.count === 0) return -1;
    const slot = this.slots[0] ?? -1;
    this.fillHole(0);
    return slot;
  }

  /** Takes one slot out wherever it stands, in time linear in the size: for rare events. */
  remove(slot: number): void {
    for (let at = 0; at < this.count; at++) {
      if (this.slots[at] === slot) {
        this.fillHole(at);
        return;
      }
    }
  }

  /** Moves the last entry into the place of the one taken out. */
  private fillHole(hole: number): void {
    const last = --this.count;
    if (hole === last) return;
    const slot = this.slots[last] ?? -1;
    const step = this.steps[last] ?? 0;
    const order = this.orders[last] ?? 0;
    this.rise(this.sink(hole, step, order), slot, step, order);
  }

  /** Lifts smaller children into the hole until an entry of this key could stay there; where the hole ends up. */
  private sink(hole: number, step: number, order: number): number {
    let at = hole;
    for (let child = 2 * at + 1; child < this.count; child = 2 * at + 1) {
      const right = child + 1;
      if (right < this.count && this.precedes(right, this.steps[child] ?? 0, this.orders[child] ?? 0)) child = right;
      if (!this.precedes(child, step, order)) break;
      this.move(child, at);
      at = child;
    }
    return at;
  }

  /** Puts an entry at a hole, or above it where its key belongs. */
  private rise(hole: number, slot: number, step: number, order: number): void {
    let at = hole;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.precedes(parent, step, order)) break;
      this.move(parent, at);
      at = parent;
    }
    this.steps[at] = step;
    this.orders[at] = order;
    this.slots[at] = slot;
  }

  private precedes(at: number, step: number, order: number): boolean {
    const own = this.steps[at] ?? 0;
    return own < step || (own === step && (this.orders[at] ?? 0) < order);
  }

  private move(from: number, to: number): void {
    this.steps[to] = this.steps[from] ?? 0;
    this.orders[to] = this.orders[from] ?? 0;
    this.slots[to] = this.slots[from] ?? -1;
  }
}
