import type { Policy, WaitingWork } from "@/solver/policies/policy";

/** A piece of queued work between its neighbours in the order it came. */
interface Entry {
  readonly work: WaitingWork;
  /** Position in the order of coming. */
  readonly order: number;
  /** As it was when last looked at: it may have grown since. */
  key: number;
  waits: boolean;
  previous: Entry | null;
  next: Entry | null;
}

/** Entries of work that has left which the heap may hold beside twice those of work that waits. */
const MOST_SPENT = 64;

/** One model's queued work, of which the first by preference and by age can be shown without looking at the rest. */
export class ModelQueue {
  size = 0;
  private readonly preference: Policy["preference"];
  private first: Entry | null = null;
  private last: Entry | null = null;
  private came = 0;
  private readonly entryOf = new Map<string, Entry>();
  /** A binary heap by key, then by order; entries of work that has left are dropped when they come up. */
  private heap: Entry[] = [];

  /** @param preference keys, the lowest first, which never fall; null: the order of coming. */
  constructor(preference: Policy["preference"]) {
    this.preference = preference;
  }

  add(work: WaitingWork): void {
    const key = this.preference?.(work) ?? 0;
    const entry: Entry = { work, order: this.came++, key, waits: true, previous: this.last, next: null };
    if (this.last === null) this.first = entry;
    else this.last.next = entry;
    this.last = entry;
    this.size++;
    if (this.preference === null) return;
    this.entryOf.set(work.id, entry);
    this.push(entry);
  }

  /** Appends what a policy may choose `room` pieces of work from, in the order it came: the oldest and the most preferred so many. */
  show(room: number, shown: WaitingWork[]): void {
    if (room <= 0) return;
    const oldest: Entry[] = [];
    for (let entry = this.first; entry !== null && oldest.length < room; entry = entry.next) oldest.push(entry);
    if (this.preference === null || room >= this.size) {
      for (const { work } of oldest) shown.push(work);
      return;
    }
    const preferred: Entry[] = [];
    while (preferred.length < room) preferred.push(this.popLowest(this.preference));
    for (const entry of preferred) this.push(entry);
    const chosen = new Set([...oldest, ...preferred]);
    for (const { work } of [...chosen].sort((a, b) => a.order - b.order)) shown.push(work);
  }

  /** Takes off what was acted on; where nothing is preferred, from the head only. Returns how much that was. */
  leave(acted: ReadonlySet<string>): number {
    const before = this.size;
    if (this.preference === null) {
      while (this.first !== null && acted.has(this.first.work.id)) this.unlink(this.first);
    } else {
      for (const id of acted) {
        const entry = this.entryOf.get(id);
        if (entry !== undefined) this.unlink(entry);
      }
      if (this.heap.length > 2 * this.size + MOST_SPENT) this.tidy();
    }
    return before - this.size;
  }

  private unlink(entry: Entry): void {
    const { previous, next } = entry;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    entry.waits = false;
    this.entryOf.delete(entry.work.id);
    this.size--;
  }

  /** Takes the lowest of the work that waits off the heap; as much must be in it. */
  private popLowest(preference: NonNullable<Policy["preference"]>): Entry {
    for (;;) {
      const lowest = this.pop();
      if (!lowest.waits) continue;
      const key = preference(lowest.work);
      if (key <= lowest.key) return lowest;
      lowest.key = key;
      this.push(lowest);
    }
  }

  private tidy(): void {
    const kept = this.heap.filter(({ waits }) => waits);
    this.heap = [];
    for (const entry of kept) this.push(entry);
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (precedes(above, entry)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  private pop(): Entry {
    const { heap } = this;
    const lowest = heap[0] as Entry;
    const moved = heap.pop() as Entry;
    if (heap.length === 0) return lowest;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && precedes(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (precedes(moved, heap[child] as Entry)) break;
      heap[at] = heap[child] as Entry;
      at = child;
    }
    heap[at] = moved;
    return lowest;
  }
}

const precedes = (one: Entry, other: Entry): boolean => one.key < other.key || (one.key === other.key && one.order < other.order);
