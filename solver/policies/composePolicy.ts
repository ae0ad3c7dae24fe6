import type { Action, Need, Policy, ReplicaView, View, WaitingWork } from "./policy";
import type { Order, Place, Route, Slots } from "./policyParts";

/** The three parts a common policy is made of. */
export interface PolicyParts {
  readonly route: Route;
  readonly order: Order;
  readonly place: Place;
}

/**
 * A policy from a route (which model), an order (which request first) and a place (which replica). Answered work is accepted
 * or sent on by the route; queued work leaves each model's queue in order for as long as a replica of the model has room.
 * Queued work for a stage the route does not know is left where it is.
 */
export function composePolicy({ route, order, place }: PolicyParts): Policy {
  const models = [...new Set(route.models)];
  const queueOfStage = route.models.map((model) => models.indexOf(model));
  const needs: readonly Need[] = [...new Set([...route.needs, ...order.needs, ...place.needs])];
  let seen: readonly ReplicaView[] | null = null;
  let seats: readonly Seats[] = [];
  return {
    kind: route.kind,
    needs,
    firstComeFirstServed: order.firstComeFirstServed,
    start: (scores) => route.start(scores),
    modelOfStage(stage) {
      const model = route.models[stage];
      if (model === undefined) throw new RangeError(`This ${route.kind} has ${route.models.length} stages; there is no stage ${stage}.`);
      return model;
    },
    judges: (stage) => route.judges(stage),
    decide(view) {
      const actions: Action[] = [];
      const queues: WaitingWork[][] = models.map(() => []);
      for (const work of view.waiting) {
        if (work.state.kind === "answered") {
          actions.push({ ...route.verdict(work.stage, work.state.judgedScore), workId: work.id });
        } else {
          const queue = queueOfStage[work.stage];
          if (queue !== undefined) queues[queue]?.push(work);
        }
      }
      if (view.replicas !== seen) {
        seen = view.replicas;
        seats = models.map((model) => seatsOf(model, view.replicas));
      }
      for (const [index, queue] of queues.entries()) {
        const own = seats[index];
        if (own !== undefined && queue.length > 0) dispatchQueue({ queue, slots: refreshed(own), order, place, view, actions });
      }
      return actions;
    },
    observe: (event) => place.observe?.(event),
  };
}

interface QueueToDispatch {
  readonly queue: readonly WaitingWork[];
  readonly slots: Slots;
  readonly order: Order;
  readonly place: Place;
  readonly view: View;
  readonly actions: Action[];
}

function dispatchQueue({ queue, slots, order, place, view, actions }: QueueToDispatch): void {
  let room = 0;
  for (let index = 0; index < slots.capacity.length; index += 1) {
    room += Math.max(0, (slots.capacity[index] ?? 0) - (slots.inFlight[index] ?? 0));
  }
  if (room === 0) return;
  for (const work of inOrder(queue, order, view.nowSeconds)) {
    const chosen = place.choose(slots);
    const replicaId = slots.replicaIds[chosen];
    if (replicaId === undefined) return;
    slots.inFlight[chosen] = (slots.inFlight[chosen] ?? 0) + 1;
    actions.push({ kind: "dispatch", workId: work.id, replicaId });
    room -= 1;
    if (room === 0) return;
  }
}

/** A model's replicas among those of a view, with the slots that each decision counts in. */
interface Seats {
  readonly replicas: readonly ReplicaView[];
  readonly slots: Slots;
}

function seatsOf(model: string, all: readonly ReplicaView[]): Seats {
  const replicas = all.filter((replica) => replica.model === model);
  return {
    replicas,
    slots: {
      model,
      replicaIds: replicas.map((replica) => replica.id),
      inFlight: new Int32Array(replicas.length),
      capacity: new Int32Array(replicas.length),
    },
  };
}

/** Slots as the replicas stand now. */
function refreshed({ replicas, slots }: Seats): Slots {
  for (const [index, replica] of replicas.entries()) {
    slots.inFlight[index] = replica.inFlight;
    slots.capacity[index] = replica.accepting ? replica.maxInFlight : 0;
  }
  return slots;
}

/** The queue by rising key. Drivers list work as it came, so the usual queue is in order already and is not sorted again. */
function inOrder(queue: readonly WaitingWork[], order: Order, nowSeconds: number): readonly WaitingWork[] {
  let last = Number.NEGATIVE_INFINITY;
  let sorted = true;
  for (let index = 0; index < queue.length && sorted; index += 1) {
    const work = queue[index];
    const key = work === undefined ? last : order.key(work, nowSeconds);
    sorted = last <= key;
    last = key;
  }
  if (sorted) return queue;
  const keys = queue.map((work) => order.key(work, nowSeconds));
  const positions = Array.from(queue.keys()).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
  return positions.flatMap((position) => queue[position] ?? []);
}
