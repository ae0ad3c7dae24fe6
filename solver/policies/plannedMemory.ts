import type { HeldBack, MemoryForecast, NextPlacement, ReplicaMemory } from "./core/memoryForecast";
import type { MemoryPlan, Slots } from "./core/policyParts";
import type { ReleaseQueue } from "./releaseQueue";

/** Number of waiting requests of each model that are placed on trial. */
const MOST_NEXT = 10;
/** More than is ever in flight, and still a count that slots can hold. */
const ANY_NUMBER = 2 ** 31 - 1;

/** A model's queue and replicas in their current state; the trial consumes both. */
export interface PlannedQueue {
  readonly queue: ReleaseQueue;
  readonly slots: Slots;
}

/** A plan's forecast for the replicas, and where the first of each queue would go if they were placed one after another. */
export function plannedMemory(plan: MemoryPlan, queues: readonly PlannedQueue[], nowSeconds: number): MemoryForecast {
  return {
    nowSeconds,
    slotSeconds: plan.slotSeconds,
    replicas: queues.flatMap(({ slots }) => plan.replicas(slots, nowSeconds)),
    next: queues.flatMap((queue) => nextPlacements(plan, queue, nowSeconds)),
  };
}

function nextPlacements(plan: MemoryPlan, { queue, slots }: PlannedQueue, nowSeconds: number): readonly NextPlacement[] {
  const seats = slots.capacity.slice();
  const next: NextPlacement[] = [];
  let holds = false;
  let lacks: HeldBack | null = null;
  while (next.length < MOST_NEXT) {
    const work = queue.peek();
    if (work === undefined) break;
    queue.release(nowSeconds);
    let chosen: number = lacks === null ? plan.choose(slots, work, nowSeconds) : -1;
    if (chosen === -1 && !holds) {
      holds = true;
      liftSeats(slots);
      chosen = plan.choose(slots, work, nowSeconds);
    }
    const replicaId: string | null = slots.replicaIds[chosen] ?? null;
    let held: HeldBack | null = null;
    if (replicaId === null) {
      held = lacks === null ? lackOf(plan.replicas(slots, nowSeconds)) : "behind";
      lacks ??= held;
    } else if (holds) held = (slots.inFlight[chosen] ?? 0) >= (seats[chosen] ?? 0) ? "seats" : "behind";
    if (replicaId !== null) slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
    next.push({
      workId: work.id,
      agent: work.forecast?.agent ?? null,
      queuedSinceSeconds: work.queuedSinceSeconds,
      replicaId: holds ? null : replicaId,
      held,
      laterReplicaId: holds ? replicaId : null,
      peakTokens: replicaId === null ? null : plan.peakTokens(slots, chosen),
    });
  }
  return next;
}

/** Lets replicas that take work take any number. */
function liftSeats({ capacity }: Slots): void {
  for (let index = 0; index < capacity.length; index += 1) if ((capacity[index] ?? 0) > 0) capacity[index] = ANY_NUMBER;
}

/** Why work did not fit any of the replicas although every seat was free. */
function lackOf(replicas: readonly ReplicaMemory[]): HeldBack {
  const taking = replicas.filter(({ seats }) => seats > 0);
  if (taking.length === 0) return "closed";
  return taking.every(({ suspended }) => suspended !== null) ? "pressure" : "memory";
}
