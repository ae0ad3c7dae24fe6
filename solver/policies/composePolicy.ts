import { type PlannedQueue, plannedMemory } from "./plannedMemory";
import type { Action, Need, Policy, ReplicaView, View, WaitingWork } from "./policy";
import type { Order, Place, Preference, Route, Slots } from "./policyParts";
import { ReleaseLog, ReleaseQueue } from "./releaseQueue";
import { refreshed, type Seats, seatsOf } from "./replicaSeats";

/** The three parts a common policy is made of. */
export interface PolicyParts {
  readonly route: Route;
  readonly order: Order;
  readonly place: Place;
}

/**
 * A policy from a route (which model), an order (which request first) and a place (which replica). Answered work is accepted
 * or sent on by the route; queued work leaves each model's queue in order for as long as a replica of the model has room. Where the place
 * holds back what goes next, the rest of that queue waits behind it: small requests that went past would keep the memory full that a large
 * one waits for, and it would starve. Queued work for a stage the route does not know is left where it is.
 */
export function composePolicy({ route, order, place }: PolicyParts): Policy {
  const models = [...new Set(route.models)];
  const queueOfStage = route.models.map((model) => models.indexOf(model));
  const { preference } = order;
  const thenBy = preference?.thenBy;
  const { memoryPlan } = place;
  const logs = models.map(() => (preference === undefined ? undefined : new ReleaseLog(preference)));
  const needs: readonly Need[] = [...new Set([...route.needs, ...order.needs, ...place.needs])];
  let seen: readonly ReplicaView[] | null = null;
  let seats: readonly Seats[] = [];
  let askAgainSeconds: number | null = null;

  function queuesOf(waiting: readonly WaitingWork[]): readonly WaitingWork[][] {
    const queues: WaitingWork[][] = models.map(() => []);
    for (const work of waiting) {
      if (work.state.kind !== "queued") continue;
      const queue = queueOfStage[work.stage];
      if (queue !== undefined) queues[queue]?.push(work);
    }
    return queues;
  }

  function plannedQueues({ waiting, replicas }: View): readonly PlannedQueue[] {
    return queuesOf(waiting).map((queue, index) => ({
      slots: refreshed(seatsOf(models[index] ?? "", replicas)),
      queue: new ReleaseQueue(queue, order, logs[index]?.copy()),
    }));
  }

  return {
    kind: route.kind,
    needs,
    preference: preference === undefined ? null : (work) => preference.key(work),
    ...(thenBy && { thenBy }),
    start: (request) => route.start(request),
    modelOfStage(stage) {
      const model = route.models[stage];
      if (model === undefined) throw new RangeError(`This ${route.kind} has ${route.models.length} stages; there is no stage ${stage}.`);
      return model;
    },
    judges: (stage) => route.judges(stage),
    decide(view) {
      const actions: Action[] = [];
      for (const { id, stage, state } of view.waiting) {
        if (state.kind === "answered") actions.push({ ...route.verdict(stage, state.judgedScore), workId: id });
      }
      if (view.replicas !== seen) {
        seen = view.replicas;
        seats = models.map((model) => seatsOf(model, view.replicas));
      }
      let holds = false;
      for (const [index, queue] of queuesOf(view.waiting).entries()) {
        const own = seats[index];
        if (own === undefined || queue.length === 0) continue;
        const release = new ReleaseQueue(queue, order, logs[index]);
        const held = dispatchQueue({ queue: release, slots: refreshed(own), preference, place, view, actions });
        holds ||= held;
      }
      askAgainSeconds = holds ? (place.askAgainSeconds?.(view.nowSeconds) ?? null) : null;
      return actions;
    },
    observe(event) {
      route.observe?.(event);
      order.observe?.(event);
      place.observe?.(event);
    },
    ...(place.askAgainSeconds && { askAgainSeconds: () => askAgainSeconds }),
    ...(memoryPlan && { memory: (view) => plannedMemory(memoryPlan(), plannedQueues(view), view.nowSeconds) }),
  };
}

interface QueueToDispatch {
  readonly queue: ReleaseQueue;
  readonly slots: Slots;
  readonly preference: Preference | undefined;
  readonly place: Place;
  readonly view: View;
  readonly actions: Action[];
}

/** Returns whether the place held work back although there was room. */
function dispatchQueue({ queue, slots, preference, place, view: { nowSeconds }, actions }: QueueToDispatch): boolean {
  let room = 0;
  for (let index = 0; index < slots.capacity.length; index += 1) {
    room += Math.max(0, (slots.capacity[index] ?? 0) - (slots.inFlight[index] ?? 0));
  }
  if (room === 0) return false;
  const degraded = place.degraded?.(slots) ?? null;
  for (; room > 0; room -= 1) {
    const work = queue.peek();
    if (work === undefined) return false;
    const chosen = place.choose(slots, work, nowSeconds);
    const replicaId = slots.replicaIds[chosen];
    if (replicaId === undefined) {
      if (place.askAgainSeconds !== undefined) return true;
      throw new Error(`${place.kind} found no replica of ${slots.model} although there is room`);
    }
    queue.release(nowSeconds);
    slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
    const priority = preference?.key(work);
    actions.push({
      kind: "dispatch",
      workId: work.id,
      replicaId,
      ...(priority === undefined ? {} : { priority }),
      ...(degraded === null ? {} : { degraded }),
    });
  }
  return false;
}
