import type { Action, Need, Policy, ReplicaView, View, WaitingWork } from "../core/policy";
import type { Order, Place, Preference, Route } from "../core/policyParts";
import { refreshed, type Seats, seatsOf } from "../core/replicaSeats";
import { stageMoves } from "../routes/stageMoves";
import { HeldWork } from "../waiting/heldWork";
import { placements, type QueueToPlace, roomOf } from "../waiting/placements";
import { type PlannedQueue, plannedMemory } from "../waiting/plannedMemory";
import { ReleaseLog, ReleaseQueue } from "../waiting/releaseQueue";

/** The three parts of a common policy. */
export interface PolicyParts {
  readonly route: Route;
  readonly order: Order;
  readonly place: Place;
}

/**
 * A policy from a route (which model), an order (which request first) and a place (which replica). The route accepts or escalates
 * answered work; queued work leaves each model's queue in order for as long as a replica of the model has room. Where the place
 * holds work back, the next that fits goes before it, a bounded number of times (`placements.ts`). Queued work for a stage that the route
 * does not know stays where it is. What follows where a stage cannot answer: `stageMoves.ts`.
 */
export function queuedPolicy({ route, order, place }: PolicyParts): Policy {
  const models = [...new Set(route.models)];
  const queueOfStage = route.models.map((model) => models.indexOf(model));
  const { preference } = order;
  const thenBy = preference?.thenBy;
  const { memoryPlan } = place;
  const moves = stageMoves(route);
  const logs = models.map(() => (preference === undefined ? undefined : new ReleaseLog(preference)));
  const held = models.map(() => new HeldWork());
  const needs: readonly Need[] = [...new Set([...route.needs, ...order.needs, ...place.needs])];
  let seen: readonly ReplicaView[] | null = null;
  let seats: readonly Seats[] = [];
  let askAgainSeconds: number | null = null;

  function plannedQueues({ waiting, replicas }: View): readonly PlannedQueue[] {
    const queues: WaitingWork[][] = models.map(() => []);
    for (const work of waiting) if (work.state.kind === "queued") queues[queueOfStage[work.stage] ?? -1]?.push(work);
    return queues.map((queue, index) => ({
      slots: refreshed(seatsOf(models[index] ?? "", replicas)),
      queue: new ReleaseQueue(queue, order, logs[index]?.copy()),
      held: held[index]?.copy() ?? new HeldWork(),
    }));
  }

  return {
    kind: route.kind,
    needs,
    preference: preference === undefined ? null : (work) => preference.key(work),
    ...(thenBy && { thenBy }),
    ...(route.readsEvidence && { readsEvidence: true as const }),
    start: moves.start,
    modelOfStage(stage) {
      const model = route.models[stage];
      if (model === undefined) throw new RangeError(`This ${route.kind} has ${route.models.length} stages; there is no stage ${stage}.`);
      return model;
    },
    judges: (stage, evidence) => route.judges(stage, evidence),
    accepts: (stage, score, evidence) => route.verdict(stage, score, evidence).kind === "accept",
    acceptReason: (stage, evidence) => route.verdict(stage, null, evidence).reason,
    decide(view) {
      const actions: Action[] = [];
      const { outage } = view;
      const isStuck = moves.stuck(outage);
      const queues: WaitingWork[][] = models.map(() => []);
      for (const work of view.waiting) {
        if (work.state.kind === "answered") {
          actions.push(moves.judged(work, work.state.judgedScore, outage));
          continue;
        }
        if (isStuck(work)) {
          for (const own of held) own.forget(work.id);
          actions.push(moves.movedOn(work, outage));
        } else queues[queueOfStage[work.stage] ?? -1]?.push(work);
      }
      if (view.replicas !== seen) {
        seen = view.replicas;
        seats = models.map((model) => seatsOf(model, view.replicas));
      }
      let holds = false;
      for (const [index, queue] of queues.entries()) {
        const own = seats[index];
        if (own === undefined || queue.length === 0) continue;
        const { nowSeconds } = view;
        const release = new ReleaseQueue(queue, order, logs[index]);
        const from = { queue: release, slots: refreshed(own), place, held: held[index] ?? new HeldWork(), nowSeconds };
        if (dispatchQueue(from, preference, actions)) holds = true;
      }
      askAgainSeconds = holds ? (place.askAgainSeconds?.(view.nowSeconds) ?? null) : null;
      return actions;
    },
    observe(event) {
      if (event.kind === "left") for (const own of held) own.forget(event.workId);
      route.observe?.(event);
      order.observe?.(event);
      place.observe?.(event);
    },
    ...(place.askAgainSeconds && { askAgainSeconds: () => askAgainSeconds, due: () => held.flatMap(({ due }) => [...due.keys()]) }),
    ...(memoryPlan && { memory: (view) => plannedMemory(memoryPlan(), plannedQueues(view), view.nowSeconds) }),
  };
}

/** Dispatches the queue's work. @returns whether the place held work back although there was room. */
function dispatchQueue(from: QueueToPlace, preference: Preference | undefined, actions: Action[]): boolean {
  const { slots, place } = from;
  let room = roomOf(slots);
  if (room === 0) return false;
  const degraded = place.degraded?.(slots) ?? null;
  let held = false;
  for (const { work, chosen } of placements(from)) {
    const replicaId = slots.replicaIds[chosen];
    if (replicaId === undefined) {
      held = true;
      continue;
    }
    room -= 1;
    const priority = preference?.key(work);
    actions.push({
      kind: "dispatch",
      workId: work.id,
      replicaId,
      ...(priority === undefined ? {} : { priority }),
      ...(degraded === null ? {} : { degraded }),
    });
  }
  return held && room > 0;
}
