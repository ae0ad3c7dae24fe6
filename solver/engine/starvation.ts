import { SlotDeque } from "../collections/slotDeque";
import type { EngineAging } from "./replicaModel";
import type { SequenceTable } from "./sequenceTable";
import type { WaitingQueue } from "./waitingQueue";

/** The value for a request that does not wait. */
const NOWHERE = -1;

/**
 * Keeps requests from starving behind more urgent ones inside one engine (Chimera, section 3.7): a request that `starvedSteps` consecutive
 * steps did not admit is put ahead of all that are not ahead, and is ordered among those by priority, then by arrival. After `quantumSteps`
 * steps in the batch it no longer counts as ahead, which matters if it is preempted. It is put ahead once and not further: the source
 * names a single elevated level.
 *
 * Waiting is not bounded: among requests that are ahead the more urgent go first, however long the others have been there. Only the
 * requests that may pass are bounded: once ahead, a request is passed only by others that were passed over as long.
 */
export class Starvation {
  promotions = 0;
  /** Requests that wait and are not ahead, with the step since which they wait, in that order; some of them no longer wait. */
  private readonly slots = new SlotDeque();
  private readonly since = new SlotDeque();

  constructor(
    private readonly table: SequenceTable,
    private readonly aging: EngineAging,
  ) {}

  /** A request waits from this step on, which may admit it. */
  waits(slot: number, step: number): void {
    const { table } = this;
    table.waitsSince[slot] = step;
    if (table.ahead[slot] === 1) return;
    this.slots.pushBack(slot);
    this.since.pushBack(step);
  }

  /** A step has admitted a request. */
  taken(slot: number, step: number): void {
    this.table.waitsSince[slot] = NOWHERE;
    this.table.takenAt[slot] = step;
  }

  /** A request that waited has left after so many steps. */
  left(slot: number, step: number): void {
    const since = this.table.waitsSince[slot] ?? NOWHERE;
    if (since !== NOWHERE && this.table.ahead[slot] === 0 && since + this.aging.starvedSteps <= step) this.promotions++;
    this.table.waitsSince[slot] = NOWHERE;
  }

  /** Before a step: puts requests ahead that have been passed over for long enough. */
  promote(step: number, queue: WaitingQueue): void {
    while (this.nextPromotion() <= step) {
      const slot = this.slots.popFront();
      this.since.popFront();
      queue.putAhead(slot);
      this.table.served[slot] = 0;
      this.promotions++;
    }
  }

  /** The step before which the next request is put ahead, if it waits until then; Infinity where there is none. */
  nextPromotion(): number {
    const { table, slots, since } = this;
    while (slots.size > 0 && table.waitsSince[slots.at(0)] !== since.at(0)) {
      slots.popFront();
      since.popFront();
    }
    return slots.size === 0 ? Number.POSITIVE_INFINITY : since.at(0) + this.aging.starvedSteps;
  }

  /** Steps until the next request in the batch no longer counts as ahead, right after `book`; Infinity where none does. */
  stepsAhead(): number {
    const { table, aging } = this;
    let least = Number.POSITIVE_INFINITY;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot))
      if (table.ahead[slot] === 1) least = Math.min(least, aging.quantumSteps - (table.served[slot] ?? 0));
    return least;
  }

  /** Before requests in the batch are compared: records their service, and resets the ahead flag of those that had enough of it. */
  book(step: number): void {
    const { table, aging } = this;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot)) {
      if (table.ahead[slot] === 0) continue;
      table.served[slot] = (table.served[slot] ?? 0) + step - (table.takenAt[slot] ?? 0);
      table.takenAt[slot] = step;
      if ((table.served[slot] ?? 0) >= aging.quantumSteps) table.ahead[slot] = 0;
    }
  }
}
