import type { Action, Need, Policy, Reading, ReplicaView, View, WaitingWork } from "./policy";
import type { Order, Place, Preference, Route, Slots } from "./policyParts";
import { ReleaseLog, ReleaseQueue } from "./releaseQueue";

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
  const { preference } = order;
  const logs = models.map(() => (preference === undefined ? undefined : new ReleaseLog(preference)));
  const needs: readonly Need[] = [...new Set([...route.needs, ...order.needs, ...place.needs])];
  let seen: readonly ReplicaView[] | null = null;
  let seats: readonly Seats[] = [];
  return {
    kind: route.kind,
    needs,
    preference: preference === undefined ? null : (work) => preference.key(work),
    start: (request) => route.start(request),
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
        if (own === undefined || queue.length === 0) continue;
        dispatchQueue({ queue: new ReleaseQueue(queue, order, logs[index]), slots: refreshed(own), preference, place, view, actions });
      }
      return actions;
    },
    observe(event) {
      route.observe?.(event);
      order.observe?.(event);
      place.observe?.(event);
    },
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

function dispatchQueue({ queue, slots, preference, place, view: { nowSeconds }, actions }: QueueToDispatch): void {
  let room = 0;
  for (let index = 0; index < slots.capacity.length; index += 1) {
    room += Math.max(0, (slots.capacity[index] ?? 0) - (slots.inFlight[index] ?? 0));
  }
  if (room === 0) return;
  const degraded = place.degraded?.(slots) ?? null;
  for (; room > 0; room -= 1) {
    const work = queue.next(nowSeconds);
    if (work === undefined) return;
    const chosen = place.choose(slots, work, nowSeconds);
    const replicaId = slots.replicaIds[chosen];
    if (replicaId === undefined) throw new Error(`${place.kind} found no replica of ${slots.model} although there is room`);
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
}

/** A model's replicas among those of a view, with the slots that each decision counts in. */
interface Seats {
  readonly replicas: readonly ReplicaView[];
  readonly slots: Slots & { readonly kvUse: Reading[]; readonly kvTokens: (number | null)[]; readonly preemptions: Reading[] };
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
      kvUse: replicas.map((replica) => replica.kvUse),
      kvTokens: replicas.map(() => null),
      preemptions: replicas.map(() => absent),
    },
  };
}

const absent: Reading = { state: "absent" };

/** What slots can count; a replica that holds any number at once counts as this. */
const MOST_IN_FLIGHT = 2 ** 31 - 1;

/** Slots as the replicas stand now. */
function refreshed({ replicas, slots }: Seats): Slots {
  for (const [index, replica] of replicas.entries()) {
    slots.inFlight[index] = replica.inFlight;
    slots.capacity[index] = replica.accepting ? Math.min(replica.maxInFlight, MOST_IN_FLIGHT) : 0;
    slots.kvUse[index] = replica.kvUse;
    slots.kvTokens[index] = replica.kvTokens ?? null;
    slots.preemptions[index] = replica.preemptions ?? absent;
  }
  return slots;
}
