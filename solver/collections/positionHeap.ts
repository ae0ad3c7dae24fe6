/** Positions 0, 1, ... of a list by their keys, of equal keys by their ties, of these by position; without an object for each. */
export class PositionHeap {
  private readonly positions: Int32Array;
  private count: number;

  /** @param keys and @param ties by position; both stay as they are while the heap is used. */
  constructor(
    private readonly keys: Float64Array,
    private readonly ties: Float64Array,
  ) {
    this.count = keys.length;
    this.positions = new Int32Array(keys.length);
    for (let position = 0; position < keys.length; position += 1) this.positions[position] = position;
    for (let at = (this.count >> 1) - 1; at >= 0; at -= 1) this.sink(at, this.positions[at] ?? 0);
  }

  /** Removes the first position; -1 when there is none. */
  pop(): number {
    if (this.count === 0) return -1;
    const first = this.positions[0] ?? -1;
    this.count -= 1;
    if (this.count > 0) this.sink(0, this.positions[this.count] ?? 0);
    return first;
  }

  /** Moves children that go before the position up into the hole until the position fits there. */
  private sink(hole: number, position: number): void {
    const { positions, count } = this;
    let at = hole;
    for (let child = 2 * at + 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && this.precedes(positions[child + 1] ?? 0, positions[child] ?? 0)) child += 1;
      const below = positions[child] ?? 0;
      if (this.precedes(position, below)) break;
      positions[at] = below;
      at = child;
    }
    positions[at] = position;
  }

  private precedes(one: number, other: number): boolean {
    const { keys, ties } = this;
    const key = keys[one] ?? 0;
    const otherKey = keys[other] ?? 0;
    if (key !== otherKey) return key < otherKey;
    const tie = ties[one] ?? 0;
    const otherTie = ties[other] ?? 0;
    return tie === otherTie ? one < other : tie < otherTie;
  }
}
