import type { HeldBack, MemoryForecast, NextPlacement, ReplicaMemory } from "../core/memoryForecast";
import type { WaitingWork } from "../core/policy";
import type { MemoryPlan, Slots } from "../core/policyParts";
import type { HeldWork } from "./heldWork";
import { placements } from "./placements";
import type { ReleaseQueue } from "./releaseQueue";

/** Number of waiting requests of each model that are placed on trial. */
const MOST_NEXT = 10;
/** More than is ever in flight, and still a count that slots can hold. */
const ANY_NUMBER = 2 ** 31 - 1;

/** A model's queue and replicas in their current state; the trial consumes all of it. */
export interface PlannedQueue {
  readonly queue: ReleaseQueue;
  readonly slots: Slots;
  readonly held: HeldWork;
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

/** First as the policy decides now, then what it would not send as if every replica had a free seat. */
function nextPlacements(plan: MemoryPlan, { queue, slots, held }: PlannedQueue, nowSeconds: number): readonly NextPlacement[] {
  const seats = slots.capacity.slice();
  const open: Slots = { ...slots, capacity: seats.map((most) => (most > 0 ? ANY_NUMBER : 0)) };
  const place = {
    kind: "time-slots",
    choose: plan.choose.bind(plan),
    choosing: plan.choosing.bind(plan),
    nearest: plan.nearest.bind(plan),
    askAgainSeconds: () => nowSeconds,
  };
  const tried: { readonly work: WaitingWork; readonly goes: { readonly replicaId: string; readonly peakTokens: number } | null }[] = [];
  for (const { work, chosen } of placements({ queue, slots, place, held, nowSeconds })) {
    const replicaId = slots.replicaIds[chosen];
    tried.push({ work, goes: replicaId === undefined ? null : { replicaId, peakTokens: plan.peakTokens(slots, chosen) } });
    if (tried.length === MOST_NEXT) break;
  }
  for (let work = queue.peek(); work !== undefined && tried.length < MOST_NEXT; work = queue.peek()) {
    queue.setAside();
    tried.push({ work, goes: null });
  }
  return tried.map(({ work, goes }): NextPlacement => {
    const about = { workId: work.id, agent: work.forecast?.agent ?? null, queuedSinceSeconds: work.queuedSinceSeconds };
    if (goes !== null) return { ...about, ...goes, held: null, laterReplicaId: null };
    const chosen = plan.choose(open, work, nowSeconds);
    const laterReplicaId = open.replicaIds[chosen];
    if (laterReplicaId === undefined)
      return { ...about, replicaId: null, held: lackOf(plan.replicas(open, nowSeconds)), laterReplicaId: null, peakTokens: null };
    const why = (open.inFlight[chosen] ?? 0) >= (seats[chosen] ?? 0) ? "seats" : "behind";
    open.inFlight[chosen] = (open.inFlight[chosen] ?? 0) + 1;
    return { ...about, replicaId: null, held: why, laterReplicaId, peakTokens: plan.peakTokens(open, chosen) };
  });
}

/** Why work did not fit any of the replicas although every seat was free. */
function lackOf(replicas: readonly ReplicaMemory[]): HeldBack {
  const taking = replicas.filter(({ seats }) => seats > 0);
  if (taking.length === 0) return "closed";
  return taking.every(({ suspended }) => suspended !== null) ? "pressure" : "memory";
}
