import { SlotDeque } from "../collections/slotDeque";
import type { SequenceTable } from "./sequenceTable";

/**
 * Requests of one engine outside its batch. First come those that have arrived: requests put ahead, then by priority (lower first), then by
 * arrival. Behind them, in the order of their arrivals, come future arrivals. Where all priorities are equal this is first come, first
 * served, and a preempted request returns to the front.
 */
export class WaitingQueue {
  private readonly slots = new SlotDeque();
  private arrived = 0;
  private prioritised = false;

  /** @param onSettled called for each request when it is inserted among the arrived. */
  constructor(
    private readonly table: SequenceTable,
    private readonly onSettled: ((slot: number) => void) | null,
  ) {}

  get size(): number {
    return this.slots.size;
  }

  /** Whether the head has arrived and may be admitted. */
  get ready(): boolean {
    return this.arrived > 0;
  }

  /** The slot to be admitted next or, while none has arrived, the one that arrives next; -1 when empty. */
  get head(): number {
    return this.slots.at(0);
  }

  /** Arrival of the head; Infinity when empty. */
  get headArrivalSeconds(): number {
    return this.table.arrivalSeconds[this.head] ?? Number.POSITIVE_INFINITY;
  }

  /** Adds a request that arrives no earlier than any in the queue; returns whether it leads the queue once it has arrived. */
  push(slot: number): boolean {
    this.prioritised ||= this.table.priority[slot] !== 0;
    this.slots.pushBack(slot);
    return this.leads(slot);
  }

  /** Puts a preempted request back at the place of its priority and arrival. */
  putBack(slot: number): void {
    this.prioritised ||= this.table.priority[slot] !== 0;
    const place = this.placeOf(slot);
    if (place === 0) {
      this.slots.pushFront(slot);
    } else {
      this.slots.pushBack(slot);
      this.slots.moveUp(this.slots.size - 1, place);
    }
    this.arrived++;
  }

  popFront(): number {
    this.arrived--;
    return this.slots.popFront();
  }

  /** Removes one request from any position. */
  remove(slot: number): void {
    if (this.slots.remove(slot) < this.arrived) this.arrived--;
  }

  /** Inserts the requests that have arrived by a time. */
  settle(seconds: number): void {
    for (; this.arrived < this.slots.size; this.arrived++) {
      const slot = this.slots.at(this.arrived);
      if ((this.table.arrivalSeconds[slot] ?? 0) > seconds) return;
      if (this.prioritised) this.slots.moveUp(this.arrived, this.placeOf(slot));
      this.onSettled?.(slot);
    }
  }

  /** Lets an arrived request be served before all others that are not ahead. */
  putAhead(slot: number): void {
    this.prioritised = true;
    const from = this.placeOf(slot) - 1;
    this.table.ahead[slot] = 1;
    this.slots.moveUp(from, this.placeOf(slot, from));
  }

  /** Arrival of the next future request; Infinity when there is none. */
  nextArrivalSeconds(): number {
    return this.table.arrivalSeconds[this.slots.at(this.arrived)] ?? Number.POSITIVE_INFINITY;
  }

  /** Arrival of the first future request that then leads the queue; Infinity when there is none. */
  nextLeadSeconds(): number {
    if (this.arrived === 0) return this.headArrivalSeconds;
    if (!this.prioritised) return Number.POSITIVE_INFINITY;
    for (let at = this.arrived; at < this.slots.size; at++) {
      const slot = this.slots.at(at);
      if (this.leads(slot)) return this.table.arrivalSeconds[slot] ?? 0;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Whether a future request would be served before the head. */
  leads(slot: number): boolean {
    return this.arrived === 0 || this.table.precedes(slot, this.head);
  }

  /** Place among the arrived, or the first of them. */
  private placeOf(slot: number, among = this.arrived): number {
    let low = 0;
    let high = among;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.table.precedes(slot, this.slots.at(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
