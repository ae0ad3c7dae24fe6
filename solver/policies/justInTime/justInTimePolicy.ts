import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import {
  type Action,
  MOST_HELD,
  type Need,
  type Policy,
  type PolicyReason,
  type ReplicaView,
  type StartingRequest,
  type View,
  type WaitingWork,
} from "../core/policy";
import type { Order, Place, Route } from "../core/policyParts";
import { refreshed, seatsOf } from "../core/replicaSeats";
import { HeldWork } from "../waiting/heldWork";
import { Placing } from "../waiting/placements";
import { plannedMemory } from "../waiting/plannedMemory";
import { ReleaseQueue } from "../waiting/releaseQueue";
import { ModelEngines } from "./modelEngines";
import { ProgramBinding } from "./programBinding";
import { RoundLog } from "./roundLog";
import { RoundOrder } from "./roundOrder";
import type { StagedWork } from "./roundQueue";
import { RoundSingles } from "./roundSingles";
import type { RoundState } from "./rounds";
import { searchRounds } from "./searchRounds";
import { StagedCalls } from "./stagedCalls";
import { StagedWorkflow } from "./stagedWorkflow";
import { worthRounds } from "./worthRounds";

/** What serves single requests, if not the largest model alone, which request goes first, and where. */
interface RoundParts {
  readonly singles: Route | null;
  readonly order: Order;
  readonly place: Place;
}

/**
 * The model of a workflow's stage is chosen when an engine has room (Aragog, section 3.2). All waiting requests are one queue, by default in
 * the order in which their programs began, deeper agents of a program first. When replicas have room below their profiled saturation, a round assigns
 * it to requests by the policy's selection. A request whose program's accurate configurations are still searched for waits, and is passed
 * over, until the search ends (section 3.1). Each request gets a model of at least one configuration that is accurate for its program and
 * agrees with the choices for it so far; the new choice narrows them. A request that no free model may serve is passed over and blocks
 * none. So is one that its place holds back; which then is due, and keeps a replica, is decided as for any queue (`placements.ts`).
 *
 * Where the document names gates, scores of answers change which configurations count as accurate for the program (`scoreShift.ts`): the
 * agents after it get their models by what is left then. Every answer is accepted, whatever its score.
 *
 * Calls without a prediction go to the largest model. Where no replica of a model is up, the policy uses accurate configurations without it;
 * where there is none, the call is refused.
 *
 * Requests of no declared workflow are served by the route of `singles`, in the same queue and the same rounds; without one, by the largest
 * model. The route's stages are the first; then each model is one stage, at which calls of workflows are answered.
 */
export function justInTimePolicy(document: JustInTimePolicy, { order, place, singles: route }: RoundParts): Policy {
  const { models, selection } = document;
  const names = models.map(({ model }) => model);
  const largest = names.length - 1;
  const singles = route === null ? null : new RoundSingles(route, names);
  const firstOfModels = singles?.stages ?? 0;
  const { callGates = [] } = document;
  const isScored = models.map(({ model }) => callGates.some((gate) => gate.model === model));
  const workflows = document.workflows.map((_, index) => new StagedWorkflow(document, index));
  const engines = models.map((profile) => new ModelEngines(profile));
  const log = new RoundLog(names);
  const binding = selection.kind === "cheapest" || selection.kind === "quickest" ? new ProgramBinding(selection, engines) : null;
  const calls = new StagedCalls(workflows, binding);
  const held = new HeldWork();
  const roundOrder = new RoundOrder(order.preference, held);
  const { memoryPlan } = place;
  /** What the place holds back in the current decision, and the models at which it does, as bits. */
  const heldNow = new Map<StagedWork, number>();
  let overheld = 0;
  /** By model, its placing in the current decision, from the first request on that is placed there. */
  const placings = new Map<number, Placing>();
  let askAgainSeconds: number | null = null;
  let seen: readonly ReplicaView[] | null = null;
  let out = 0;
  const state: RoundState = {
    engines,
    calls,
    log,
    heldAt: (one) => heldNow.get(one) ?? 0,
    overheld: () => overheld,
    out: () => out,
    allowed,
    send,
  };
  const rounds =
    selection.kind === "worth"
      ? worthRounds({ document, weights: selection, singles }, state)
      : searchRounds({ selection, models, ordered: roundOrder.isOwn, binds: binding !== null }, state);

  const isSingle = ({ program }: StagedWork): boolean => singles !== null && program === null;

  function allowed(one: StagedWork): number {
    const { program, agent } = one;
    if (program === null) return (singles?.own(one.work) ?? 1 << largest) & ~out;
    const may = program.allowed(agent, out);
    if (binding === null || may === 0) return may;
    if ((may & (1 << one.bound)) === 0 || one.bound < 0) binding.bind(one, program, out);
    return 1 << one.bound;
  }

  /** Binds the requests that arrived since, in the order of the list. */
  function bindWaiting(waiting: readonly WaitingWork[]): void {
    const queued = waiting.filter(({ state, searching }) => state.kind === "queued" && searching !== true).map((work) => calls.of(work));
    binding?.count(queued, ({ stage }) => singles?.modelAt(stage) ?? largest);
    for (const one of queued) if (one.bound < 0) allowed(one);
  }

  function see({ replicas }: View): void {
    if (replicas !== seen) {
      seen = replicas;
      for (const own of engines) own.seat(replicas);
    }
    out = 0;
    for (const [model, own] of engines.entries()) {
      own.refresh();
      if (own.out) out |= 1 << model;
    }
    heldNow.clear();
    overheld = 0;
    placings.clear();
  }

  /** Clears the choices of agents that wait for models which are not there. */
  function reopen(waiting: readonly WaitingWork[]): void {
    for (const work of waiting) {
      if (work.state.kind !== "queued") continue;
      const { program, agent, gone } = calls.of(work);
      if (!gone) program?.askedWithout(agent, out);
    }
  }

  function refuse(waiting: readonly WaitingWork[], actions: Action[]): void {
    const missing = names.filter((_, model) => (out & (1 << model)) !== 0).join(", ");
    for (const work of waiting) {
      if (work.state.kind !== "queued" || work.searching === true) continue;
      const one = calls.of(work);
      if (one.gone || isSingle(one) || allowed(one) !== 0) continue;
      calls.refused(one);
      held.forget(work.id);
      const who =
        one.program === null
          ? `A request of no declared workflow, or of no agent of it, goes to ${names[largest]}`
          : `No accurate configuration of ${one.program.workflow.name} is left in which ${work.call?.agent} and what comes after it do without ${missing}`;
      actions.push({ kind: "refuse", workId: work.id, cause: "no-configuration", reason: `${who}, of which no engine is up.` });
    }
  }

  function send(one: StagedWork, model: number, nowSeconds: number, actions: Action[]): boolean {
    const { work, program, agent } = one;
    const own = engines[model];
    if (own === undefined) return false;
    const degraded = place.degraded?.(own.slots) ?? null;
    const placing = placings.get(model) ?? new Placing({ slots: own.slots, place, held, nowSeconds });
    placings.set(model, placing);
    const replicaId = own.slots.replicaIds[placing.place(work)];
    own.changed();
    if (replicaId === undefined) {
      heldNow.set(one, (heldNow.get(one) ?? 0) | (1 << model));
      if (placing.back.length >= MOST_HELD) overheld |= 1 << model;
      return false;
    }
    if (heldNow.delete(one)) for (const other of placings.values()) other.forget(work);
    roundOrder.sent(nowSeconds);
    calls.waitsNoLonger(one);
    if (program !== null) {
      program.choose(agent, model);
      log.sent(program);
    }
    const priority = roundOrder.priorityOf(work);
    actions.push({
      kind: "dispatch",
      workId: work.id,
      replicaId,
      stage: singles !== null && program === null ? singles.stageFor(work, model) : firstOfModels + model,
      ...(priority === undefined ? {} : { priority }),
      ...(degraded === null ? {} : { degraded }),
    });
    return true;
  }

  /** Notes the score of a call's answer, by which the agents after it are served. Returns why the answer is accepted. */
  function scored({ id, stage }: WaitingWork, score: number | null): PolicyReason {
    const model = stage - firstOfModels;
    if (isScored[model] !== true) return "not-judged";
    calls.scored(id, model, score);
    return score === null ? "no-gate-score" : "scored-for-later-agents";
  }

  /** Verdicts on answers, and what follows for single requests whose stage cannot answer. Returns the work that rounds may serve. */
  function settle({ waiting, outage }: View, actions: Action[]): readonly WaitingWork[] {
    const isStuck = singles?.moves.stuck(outage);
    const goesOn = (work: WaitingWork): boolean => {
      const { id: workId, stage } = work;
      if (work.state.kind === "answered") {
        if (singles === null || stage >= firstOfModels)
          actions.push({ kind: "accept", workId, reason: scored(work, work.state.judgedScore) });
        else actions.push(singles.judged(work, work.state.judgedScore, outage));
        return false;
      }
      if (singles === null || isStuck?.(work) !== true || !isSingle(calls.of(work))) return true;
      held.forget(workId);
      actions.push(singles.moves.movedOn(work, outage));
      return false;
    };
    // Most decisions settle nothing: the list is copied only where something is left out of it.
    const first = waiting.findIndex((work) => !goesOn(work));
    return first < 0 ? waiting : [...waiting.slice(0, first), ...waiting.slice(first + 1).filter(goesOn)];
  }

  /** The replicas of each model. Which of the waiting requests come there next, only a round decides. */
  const plannedQueues = ({ replicas }: View) =>
    names.map((model) => ({
      slots: refreshed(seatsOf(model, replicas)),
      queue: new ReleaseQueue([], {}, undefined),
      held: new HeldWork(),
    }));

  const singleRoute = (stage: number): Route | null => (singles !== null && stage < firstOfModels ? singles.route : null);
  const reads: readonly Need[] = [
    ...(selection.kind === "fixed" || workflows.length === 0 ? [] : (["configurations"] as const)),
    ...(selection.kind === "worth" && document.learnt?.lengths !== undefined ? (["lengths"] as const) : []),
    ...(selection.kind === "worth" && document.learnt?.confidence !== undefined ? (["confidence"] as const) : []),
  ];
  return {
    kind: "just-in-time",
    needs: [...new Set<Need>([...reads, "identifiers", ...(route?.needs ?? []), ...order.needs, ...place.needs])],
    preference: null,
    choosesModel: true,
    ...((route?.readsEvidence || (route !== null && selection.kind === "worth")) && { readsEvidence: true as const }),
    rounds: () => log.view(),
    start(request: StartingRequest) {
      if (singles === null || calls.knows(request.call)) return { stage: firstOfModels + largest, reason: "model-chosen-at-dispatch" };
      return singles.moves.start(request);
    },
    modelOfStage(stage) {
      const model = singleRoute(stage)?.models[stage] ?? names[stage - firstOfModels];
      if (model === undefined)
        throw new RangeError(`This just-in-time choice is among ${names.length} models; there is no stage ${stage}.`);
      return model;
    },
    ...(callGates.length > 0 && { scoresCallsFrom: firstOfModels }),
    judges: (stage, evidence) => singleRoute(stage)?.judges(stage, evidence) ?? isScored[stage - firstOfModels] === true,
    accepts: (stage, score, evidence) => (singleRoute(stage)?.verdict(stage, score, evidence).kind ?? "accept") === "accept",
    acceptReason: (stage, evidence) => singleRoute(stage)?.verdict(stage, null, evidence).reason ?? "not-judged",
    decide(view) {
      const actions: Action[] = [];
      see(view);
      const waiting = settle(view, actions);
      if (out !== 0) reopen(waiting);
      if (binding !== null && binding.unbound > 0) bindWaiting(waiting);
      if (out !== 0) refuse(waiting, actions);
      rounds({ ...view, waiting: roundOrder.ordered(waiting) }, actions);
      const hasRoom = [...placings.values()].some(({ room }) => room > 0);
      askAgainSeconds = heldNow.size > 0 && hasRoom ? (place.askAgainSeconds?.(view.nowSeconds) ?? null) : null;
      return actions;
    },
    ...(place.askAgainSeconds && { askAgainSeconds: () => askAgainSeconds, due: () => held.due.keys() }),
    ...(memoryPlan && { memory: (view) => plannedMemory(memoryPlan(), plannedQueues(view), view.nowSeconds) }),
    observe(event) {
      route?.observe?.(event);
      order.observe?.(event);
      place.observe?.(event);
      if (event.kind === "left") held.forget(event.workId);
      calls.observe(event);
      if (event.kind === "queued" && calls.of(event.work).program === null) singles?.queued(event.work);
    },
  };
}
