import type { Action, ReplicaView, View, WaitingWork } from "../core/policy";
import type { Order, Place, Preference, Route } from "../core/policyParts";
import { refreshed, type Seats, seatsOf } from "../core/replicaSeats";
import type { Dispatcher } from "./dispatcher";
import { HeldWork } from "./heldWork";
import { Placing, placements, type QueueToPlace, roomOf } from "./placements";
import { ReleaseLog, ReleaseQueue } from "./releaseQueue";

interface QueueParts {
  readonly route: Pick<Route, "models">;
  readonly order: Order;
  readonly place: Place;
}

/**
 * A round over requests that have one candidate each, the model of their stage: requests for different models do not compete, so that the
 * round is one queue for each model, without a choice to weigh. Each queue's work leaves in order for as long as a replica of the model has
 * room. Where the place holds work back, the next that fits goes before it, a bounded number of times (`placements.ts`). Work for a
 * stage that the route does not know stays where it is.
 */
export function modelQueues({ route, order, place }: QueueParts): Dispatcher {
  const models = [...new Set(route.models)];
  const queueOfStage = route.models.map((model) => models.indexOf(model));
  const { preference } = order;
  const thenBy = preference?.thenBy;
  const logs = models.map(() => (preference === undefined ? undefined : new ReleaseLog(preference)));
  const held = models.map(() => new HeldWork());
  let seen: readonly ReplicaView[] | null = null;
  let seats: readonly Seats[] = [];

  function byModel(waiting: readonly WaitingWork[]): readonly WaitingWork[][] {
    const queues: WaitingWork[][] = models.map(() => []);
    for (const work of waiting) if (work.state.kind === "queued") queues[queueOfStage[work.stage] ?? -1]?.push(work);
    return queues;
  }

  function dispatchOnly(work: WaitingWork, nowSeconds: number, actions: Action[]): boolean {
    const index = queueOfStage[work.stage] ?? -1;
    const own = seats[index];
    if (own === undefined || work.state.kind !== "queued") return false;
    const slots = refreshed(own);
    const placing = new Placing({ slots, place, held: held[index] ?? new HeldWork(), nowSeconds });
    if (placing.room === 0) return false;
    const degraded = place.degraded?.(slots) ?? null;
    const replicaId = slots.replicaIds[placing.place(work)];
    if (replicaId === undefined) return true;
    logs[index]?.note(nowSeconds);
    actions.push(dispatchOf(work, replicaId, { preference, degraded }));
    return false;
  }

  return {
    needs: [],
    calls: null,
    preference: preference === undefined ? null : (work) => preference.key(work),
    ...(thenBy && { thenBy }),
    dispatch({ waiting, replicas, nowSeconds }: View, actions: Action[]) {
      if (replicas !== seen) {
        seen = replicas;
        seats = models.map((model) => seatsOf(model, replicas));
      }
      const [only] = waiting;
      // As below, without queues: most work comes alone, to engines with room.
      if (only !== undefined && waiting.length === 1) return dispatchOnly(only, nowSeconds, actions);
      let holds = false;
      for (const [index, queue] of byModel(waiting).entries()) {
        const own = seats[index];
        if (own === undefined || queue.length === 0) continue;
        const release = new ReleaseQueue(queue, order, logs[index]);
        const from = { queue: release, slots: refreshed(own), place, held: held[index] ?? new HeldWork(), nowSeconds };
        if (dispatchQueue(from, preference, actions)) holds = true;
      }
      return holds;
    },
    forget(workId) {
      for (const own of held) own.forget(workId);
    },
    due: () => held.flatMap(({ due }) => [...due.keys()]),
    plannedQueues: ({ waiting, replicas }) =>
      byModel(waiting).map((queue, index) => ({
        slots: refreshed(seatsOf(models[index] ?? "", replicas)),
        queue: new ReleaseQueue(queue, order, logs[index]?.copy()),
        held: held[index]?.copy() ?? new HeldWork(),
      })),
  };
}

interface Ordered {
  readonly preference: Preference | undefined;
  readonly degraded: string | null;
}

function dispatchOf(work: WaitingWork, replicaId: string, { preference, degraded }: Ordered): Action {
  const action: Dispatch = { kind: "dispatch", workId: work.id, replicaId };
  const priority = preference?.key(work);
  if (priority !== undefined) action.priority = priority;
  if (degraded !== null) action.degraded = degraded;
  return action;
}

type Dispatch = { -readonly [Member in keyof DispatchAction]: DispatchAction[Member] };
type DispatchAction = Extract<Action, { kind: "dispatch" }>;

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
    actions.push(dispatchOf(work, replicaId, { preference, degraded }));
  }
  return held && room > 0;
}
