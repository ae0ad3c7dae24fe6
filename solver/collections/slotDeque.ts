/** A double-ended queue of slot numbers in a ring of typed memory. */
export class SlotDeque {
  private ring = new Int32Array(16);
  private head = 0;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Slot at position `index` from the front; -1 past the end. */
  at(index: number): number {
    return index < this.count ? (this.ring[(this.head + index) & (this.ring.length - 1)] ?? -1) : -1;
  }

  pushBack(slot: number): void {
    this.grow();
    this.ring[(this.head + this.count) & (this.ring.length - 1)] = slot;
    this.count++;
  }

  pushFront(slot: number): void {
    this.grow();
    this.head = (this.head - 1) & (this.ring.length - 1);
    this.ring[this.head] = slot;
    this.count++;
  }

  /** Removes the front; -1 when empty. */
  popFront(): number {
    const slot = this.at(0);
    if (slot === -1) return -1;
    this.head = (this.head + 1) & (this.ring.length - 1);
    this.count--;
    return slot;
  }

  /** Moves the slot at one position forward to another, past those between. */
  moveUp(from: number, to: number): void {
    const mask = this.ring.length - 1;
    const slot = this.at(from);
    for (let index = from; index > to; index--) this.ring[(this.head + index) & mask] = this.at(index - 1);
    this.ring[(this.head + to) & mask] = slot;
  }

  /**
   * Removes one slot from any position, in time linear in the size: for rare events. Returns its position; the size when it was not there.
   */
  remove(slot: number): number {
    const size = this.count;
    let position = size;
    let kept = 0;
    for (let index = 0; index < size; index++) {
      const other = this.at(index);
      if (other === slot) {
        position = index;
        continue;
      }
      this.ring[(this.head + kept) & (this.ring.length - 1)] = other;
      kept++;
    }
    this.count = kept;
    return position;
  }

  private grow(): void {
    if (this.count < this.ring.length) return;
    const wider = new Int32Array(this.ring.length * 2);
    for (let index = 0; index < this.count; index++) wider[index] = this.at(index);
    this.ring = wider;
    this.head = 0;
  }
}
