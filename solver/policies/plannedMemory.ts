import type { MemoryForecast, NextPlacement } from "./memoryForecast";
import type { MemoryPlan, Slots } from "./policyParts";
import type { ReleaseQueue } from "./releaseQueue";

/** Waiting work of each model that is placed on trial. */
const MOST_NEXT = 10;

/** A model's queue and replicas as they stand; both are used up by the trial. */
export interface PlannedQueue {
  readonly queue: ReleaseQueue;
  readonly slots: Slots;
}

/** What a plan expects of the replicas, and where the first of each queue would go if they were placed on it one after another. */
export function plannedMemory(plan: MemoryPlan, queues: readonly PlannedQueue[], nowSeconds: number): MemoryForecast {
  return {
    nowSeconds,
    slotSeconds: plan.slotSeconds,
    replicas: queues.flatMap(({ slots }) => plan.replicas(slots, nowSeconds)),
    next: queues.flatMap((queue) => nextPlacements(plan, queue, nowSeconds)),
  };
}

function nextPlacements(plan: MemoryPlan, { queue, slots }: PlannedQueue, nowSeconds: number): readonly NextPlacement[] {
  const next: NextPlacement[] = [];
  let holds = false;
  while (next.length < MOST_NEXT) {
    const work = queue.peek();
    if (work === undefined) break;
    queue.release(nowSeconds);
    const chosen: number = holds ? -1 : plan.choose(slots, work, nowSeconds);
    const replicaId: string | null = slots.replicaIds[chosen] ?? null;
    holds = replicaId === null;
    if (!holds) slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
    next.push({
      workId: work.id,
      agent: work.forecast?.agent ?? null,
      queuedSinceSeconds: work.queuedSinceSeconds,
      replicaId,
      peakTokens: holds ? null : plan.peakTokens(slots, chosen),
    });
  }
  return next;
}
