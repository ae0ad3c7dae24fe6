import type { JustInTimePolicy } from "../plan/policySchema";
import type { Action, Need, Policy, View, WaitingWork } from "./core/policy";
import type { Order, Place, Route } from "./core/policyParts";
import { choosingRounds } from "./justInTime/choosingRounds";
import { stageMoves } from "./routes/stageMoves";
import { modelQueues } from "./waiting/modelQueues";
import { plannedMemory } from "./waiting/plannedMemory";

/** The parts of the joint policy. */
export type JointParts = Queueing & (OfRoute | OfWorkflows);

interface Queueing {
  readonly order: Order;
  readonly place: Place;
}

/** Every request has one candidate: the model of its stage of the route. */
interface OfRoute {
  readonly route: Route;
  readonly choice?: never;
}

/** Rounds choose among candidates. The route serves requests of no declared workflow; null: the choice's largest model does. */
interface OfWorkflows {
  readonly route: Route | null;
  readonly choice: JustInTimePolicy;
}

/**
 * The one policy for all kinds of requests, from a route (which model serves a stage, and which answers are good enough), a choice
 * among models at dispatch, an order (which request first) and a place (which replica). The systems that it joins are this policy with
 * parts left out: Cascadia and Chimera are a route without a choice, Aragog a choice without a route, Kairos an order and a
 * place over either. Without a choice nothing is weighed: `waiting/modelQueues.ts`. With one: `justInTime/choosingRounds.ts`.
 *
 * The route accepts or escalates answered work. What follows where a stage cannot answer: `routes/stageMoves.ts`.
 *
 * @throws RangeError when the route has a stage whose model is not among those of the choice.
 */
export function jointPolicy(parts: JointParts): Policy {
  const { route, order, place } = parts;
  const { kind } = parts.choice ?? parts.route;
  const moves = route && stageMoves(route);
  const firstOfCalls = route?.models.length ?? 0;
  const dispatcher = parts.choice === undefined ? modelQueues(parts) : choosingRounds(parts.choice, parts);
  const { calls, preference, thenBy, choosesModel, rounds } = dispatcher;
  const { memoryPlan } = place;
  const stageModels = [...(route?.models ?? []), ...(calls?.models ?? [])];
  let askAgainSeconds: number | null = null;

  const routeOf = (stage: number): Route | null => (stage < firstOfCalls ? route : null);

  function settled(work: WaitingWork, judgedScore: number | null, { outage }: View): Action {
    if (moves === null || (calls !== null && work.stage >= firstOfCalls)) {
      const reason = calls?.answered(work.id, work.stage - firstOfCalls, judgedScore) ?? "not-judged";
      return { kind: "accept", workId: work.id, reason };
    }
    const action = moves.judged(work, judgedScore, outage);
    if (judgedScore !== null) dispatcher.judged?.(work.stage, action.kind === "escalate");
    return action;
  }

  /** Verdicts on answers, and what follows for work of the route whose stage cannot answer. Returns the queued work that is left. */
  function settle(view: View, actions: Action[]): readonly WaitingWork[] {
    const { outage } = view;
    const isStuck = moves?.stuck(outage);
    const queued: WaitingWork[] = [];
    for (const work of view.waiting) {
      if (work.state.kind === "answered") actions.push(settled(work, work.state.judgedScore, view));
      else if (moves === null || isStuck?.(work) !== true || calls?.isCall(work)) queued.push(work);
      else {
        dispatcher.forget(work.id);
        route?.observe?.({ kind: "left", workId: work.id, nowSeconds: view.nowSeconds });
        actions.push(moves.movedOn(work, outage));
      }
    }
    return queued;
  }

  return {
    kind,
    needs: [...new Set<Need>([...dispatcher.needs, ...(route?.needs ?? []), ...order.needs, ...place.needs])],
    preference,
    ...(thenBy && { thenBy }),
    ...(choosesModel && { choosesModel }),
    ...((route?.readsEvidence || dispatcher.readsEvidence) && { readsEvidence: true as const }),
    ...(calls?.areScored && { scoresCallsFrom: firstOfCalls }),
    ...(rounds && { rounds }),
    ...(route?.grace && { grace: (nowSeconds) => route.grace?.(nowSeconds) ?? [] }),
    start(request) {
      if (moves !== null && !calls?.knows(request.call)) return moves.start(request);
      return { stage: firstOfCalls + (calls?.start ?? 0), reason: "model-chosen-at-dispatch" };
    },
    modelOfStage(stage) {
      const model = stageModels[stage];
      if (model === undefined) throw new RangeError(`This ${kind} policy has ${stageModels.length} stages; there is no stage ${stage}.`);
      return model;
    },
    judges: (stage, evidence) => routeOf(stage)?.judges(stage, evidence) ?? calls?.judges(stage - firstOfCalls) ?? false,
    accepts: (stage, score, evidence) => (routeOf(stage)?.verdict(stage, score, evidence).kind ?? "accept") === "accept",
    acceptReason: (stage, evidence) => routeOf(stage)?.verdict(stage, null, evidence).reason ?? "not-judged",
    decide(view) {
      const actions: Action[] = [];
      route?.advance?.(view.nowSeconds);
      const waiting = settle(view, actions);
      const { nowSeconds, replicas, outage } = view;
      const holds = dispatcher.dispatch({ nowSeconds, waiting, replicas, outage }, actions);
      askAgainSeconds = holds ? (place.askAgainSeconds?.(nowSeconds) ?? null) : null;
      return actions;
    },
    observe(event) {
      if (event.kind === "left") dispatcher.forget(event.workId);
      route?.observe?.(event);
      order.observe?.(event);
      place.observe?.(event);
      dispatcher.observe?.(event);
    },
    ...(place.askAgainSeconds && { askAgainSeconds: () => askAgainSeconds, due: () => dispatcher.due() }),
    ...(memoryPlan && { memory: (view) => plannedMemory(memoryPlan(), dispatcher.plannedQueues(view), view.nowSeconds) }),
  };
}
