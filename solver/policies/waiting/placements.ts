import { MOST_HELD, type WaitingWork } from "../core/policy";
import type { Place, Slots } from "../core/policyParts";
import type { HeldWork } from "./heldWork";
import type { ReleaseQueue } from "./releaseQueue";

/** A call of the queue and its replica, by index into the slots; -1: held back. */
interface Placement {
  readonly work: WaitingWork;
  readonly chosen: number;
}

export interface QueueToPlace {
  readonly queue: ReleaseQueue;
  /** Counts what is placed. A replica that is kept for held-back work gets no capacity. */
  readonly slots: Slots;
  readonly place: Pick<Place, "kind" | "choose" | "choosing" | "nearest" | "askAgainSeconds" | "degraded">;
  readonly held: HeldWork;
  readonly nowSeconds: number;
}

/** Seats that are free at the replicas. */
export function roomOf({ capacity, inFlight }: Slots): number {
  let room = 0;
  for (let index = 0; index < capacity.length; index += 1) room += Math.max(0, (capacity[index] ?? 0) - (inFlight[index] ?? 0));
  return room;
}

/**
 * Places the work of one model during one decision, one after the other in its order. A call that the place holds back does not block those
 * after it: the next that fits goes.
 *
 * **Bound.** At most `MOST_PASSES` later calls go before a call that is held back. Then it is due: it is tried before all others, and while
 * it fits nowhere one replica is kept for it, which gets nothing else. It goes at the latest when what that replica had has ended, as an
 * idle replica takes any call. Each due call keeps a replica of its own; where none is left, nothing goes before it anywhere.
 */
export class Placing {
  /** Seats that are still free. */
  room: number;
  /** Work held back by this decision that is not due. */
  readonly back: WaitingWork[] = [];
  private readonly choosing: (work: WaitingWork) => number;
  /** Replicas that are kept for due work; null: none yet. */
  private kept: Set<number> | null = null;

  constructor(private readonly at: Omit<QueueToPlace, "queue">) {
    const { slots, place, nowSeconds } = at;
    this.room = roomOf(slots);
    this.choosing = place.choosing?.(slots, nowSeconds) ?? ((work) => place.choose(slots, work, nowSeconds));
  }

  /**
   * Index of the work's replica, which then has one more in flight; -1: the work is held back.
   * @throws Error where a place that never holds work back finds no replica although there is room.
   */
  place(work: WaitingWork): number {
    const { slots, place, held } = this.at;
    const chosen = this.choosing(work);
    if (chosen >= 0) {
      held.forget(work.id);
      slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
      this.room -= 1;
      for (const earlier of this.back) if (held.pass(earlier.id)) this.keepFor(earlier);
      return chosen;
    }
    if (held.due.has(work.id)) this.keepFor(work);
    else if (place.askAgainSeconds === undefined)
      throw new Error(`${place.kind} found no replica of ${slots.model} although there is room`);
    else this.back.push(work);
    return -1;
  }

  /** Work that was held back here has gone elsewhere: what is placed from now on passes it no more. */
  forget(work: WaitingWork): void {
    const at = this.back.indexOf(work);
    if (at >= 0) this.back.splice(at, 1);
  }

  private keepFor(work: WaitingWork): void {
    const { slots, place, held, nowSeconds } = this.at;
    this.kept ??= new Set();
    const { kept } = this;
    const known = slots.replicaIds.indexOf(held.due.get(work.id) ?? "");
    const stays = known >= 0 && (slots.capacity[known] ?? 0) > 0 && !kept.has(known);
    const index = stays ? known : (place.nearest?.(slots, { work, nowSeconds, kept }) ?? leastBusy(slots, kept));
    held.keep(work.id, slots.replicaIds[index] ?? null);
    if (index < 0) slots.capacity.fill(0);
    else {
      kept.add(index);
      slots.capacity[index] = Math.min(slots.capacity[index] ?? 0, slots.inFlight[index] ?? 0);
    }
    this.room = roomOf(slots);
  }
}

/** Places a queue's work in its order, what is due first, for as long as there are free seats. */
export function* placements(from: QueueToPlace): Generator<Placement, void> {
  const { queue, slots, held, nowSeconds } = from;
  if (roomOf(slots) === 0) return;
  const placing = new Placing(from);
  for (const position of held.due.size === 0 ? [] : queue.positionsOf(held.due)) {
    const work = queue.at(position);
    if (placing.room === 0 || work === undefined) return;
    const chosen = placing.place(work);
    if (chosen >= 0) queue.releaseAt(position, nowSeconds);
    else queue.setAsideAt(position);
    yield { work, chosen };
  }
  while (placing.room > 0 && placing.back.length < MOST_HELD) {
    const work = queue.peek();
    if (work === undefined) return;
    const chosen = placing.place(work);
    if (chosen >= 0) queue.release(nowSeconds);
    else queue.setAside();
    yield { work, chosen };
  }
}

/** The replica with most free seats among those that take work and are not kept; -1: none. */
function leastBusy({ capacity, inFlight }: Slots, kept: ReadonlySet<number>): number {
  let best = -1;
  let most = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < capacity.length; index += 1) {
    const free = (capacity[index] ?? 0) - (inFlight[index] ?? 0);
    if ((capacity[index] ?? 0) <= 0 || kept.has(index) || free <= most) continue;
    best = index;
    most = free;
  }
  return best;
}
