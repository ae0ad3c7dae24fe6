import { MOST_HELD, type WaitingWork } from "./core/policy";
import type { Place, Slots } from "./core/policyParts";
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
 * Places a queue's work in its order, for as long as there are free seats. A call that the place holds back does not block those after it:
 * the next that fits goes (JOINT, "feasible").
 *
 * **Bound.** At most `MOST_PASSES` later calls go before a call that is held back. Then it is due: it is tried before all others, and while
 * it fits nowhere one replica is kept for it, which gets nothing else. It goes at the latest when what that replica had has ended, as an
 * idle replica takes any call. Each due call keeps a replica of its own; where none is left, nothing goes before it anywhere.
 *
 * @throws Error where a place that never holds work back finds no replica although there is room.
 */
export function* placements({ queue, slots, place, held, nowSeconds }: QueueToPlace): Generator<Placement, void> {
  let room = roomOf(slots);
  if (room === 0) return;
  const choose = place.choosing?.(slots, nowSeconds) ?? ((work: WaitingWork) => place.choose(slots, work, nowSeconds));
  const kept = new Set<number>();
  const keepFor = (work: WaitingWork): void => {
    const known = slots.replicaIds.indexOf(held.due.get(work.id) ?? "");
    const stays = known >= 0 && (slots.capacity[known] ?? 0) > 0 && !kept.has(known);
    const index = stays ? known : (place.nearest?.(slots, { work, nowSeconds, kept }) ?? leastBusy(slots, kept));
    held.keep(work.id, slots.replicaIds[index] ?? null);
    if (index < 0) slots.capacity.fill(0);
    else {
      kept.add(index);
      slots.capacity[index] = Math.min(slots.capacity[index] ?? 0, slots.inFlight[index] ?? 0);
    }
    room = roomOf(slots);
  };
  const sent = (work: WaitingWork, chosen: number): Placement => {
    held.forget(work.id);
    slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
    room -= 1;
    return { work, chosen };
  };

  for (const position of held.due.size === 0 ? [] : queue.positionsOf(held.due)) {
    const work = queue.at(position);
    if (room === 0 || work === undefined) return;
    const chosen = choose(work);
    if (chosen >= 0) {
      queue.releaseAt(position, nowSeconds);
      yield sent(work, chosen);
      continue;
    }
    queue.setAsideAt(position);
    keepFor(work);
    yield { work, chosen };
  }
  const back: WaitingWork[] = [];
  while (room > 0 && back.length < MOST_HELD) {
    const work = queue.peek();
    if (work === undefined) return;
    const chosen = choose(work);
    if (chosen < 0) {
      if (place.askAgainSeconds === undefined) throw new Error(`${place.kind} found no replica of ${slots.model} although there is room`);
      queue.setAside();
      back.push(work);
      yield { work, chosen };
      continue;
    }
    queue.release(nowSeconds);
    const placed = sent(work, chosen);
    for (const earlier of back) if (held.pass(earlier.id)) keepFor(earlier);
    yield placed;
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
