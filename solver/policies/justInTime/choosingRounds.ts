import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { type Action, MOST_HELD, type Need, type ReplicaView, type View, type WaitingWork } from "../core/policy";
import type { Order, Place, Route } from "../core/policyParts";
import { refreshed, seatsOf } from "../core/replicaSeats";
import type { Dispatcher } from "../waiting/dispatcher";
import { HeldWork } from "../waiting/heldWork";
import { Placing } from "../waiting/placements";
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
  readonly route: Route | null;
  readonly order: Order;
  readonly place: Place;
}

/**
 * The model of a workflow's stage is chosen when an engine has room (Aragog, section 3.2). All waiting requests are one queue, by default in
 * the order in which their programs began, deeper agents of a program first. When replicas have room below their profiled saturation, a round assigns
 * it to requests by the policy's selection. A request whose program's accurate configurations are still searched for waits, and is passed
 * over, until the search ends (section 3.1). Each request gets a model of at least one configuration that is accurate for its program and
 * agrees with the choices for it so far; the new choice narrows them. A request that no free model may serve is passed over and blocks
 * none. So is one that its place holds back; which then is due, and keeps a replica, is decided as for any queue (`placements.ts`), later
 * requests that pass it being counted over all models.
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
export function choosingRounds(document: JustInTimePolicy, { order, place, route }: RoundParts): Dispatcher {
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
  /** What the place holds back in the current decision, and the models at which it does, as bits. */
  const heldNow = new Map<StagedWork, number>();
  let overheld = 0;
  /** By model, its placing in the current decision, from the first request on that is placed there. */
  const placings = new Map<number, Placing>();
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

  /** The replicas of each model. Which of the waiting requests come there next, only a round decides. */
  const plannedQueues = ({ replicas }: View) =>
    names.map((model) => ({
      slots: refreshed(seatsOf(model, replicas)),
      queue: new ReleaseQueue([], {}, undefined),
      held: new HeldWork(),
    }));

  const reads: readonly Need[] = [
    ...(selection.kind === "fixed" || workflows.length === 0 ? [] : (["configurations"] as const)),
    ...(selection.kind === "worth" && document.learnt?.lengths !== undefined ? (["lengths"] as const) : []),
    ...(selection.kind === "worth" && document.learnt?.confidence !== undefined ? (["confidence"] as const) : []),
  ];
  return {
    needs: [...reads, "identifiers"],
    preference: null,
    choosesModel: true,
    ...(route !== null && selection.kind === "worth" && { readsEvidence: true as const }),
    rounds: () => log.view(),
    calls: {
      models: names,
      start: largest,
      areScored: callGates.length > 0,
      knows: (call) => calls.knows(call),
      isCall: (work) => calls.of(work).program !== null,
      judges: (model) => isScored[model] === true,
      answered(workId, model, score) {
        if (isScored[model] !== true) return "not-judged";
        calls.scored(workId, model, score);
        return score === null ? "no-gate-score" : "scored-for-later-agents";
      },
    },
    dispatch(view, actions) {
      see(view);
      const { waiting } = view;
      if (out !== 0) reopen(waiting);
      if (binding !== null && binding.unbound > 0) bindWaiting(waiting);
      if (out !== 0) refuse(waiting, actions);
      rounds({ ...view, waiting: roundOrder.ordered(waiting) }, actions);
      return heldNow.size > 0 && [...placings.values()].some(({ room }) => room > 0);
    },
    judged: (stage, escalated) => singles?.judged(stage, escalated),
    observe(event) {
      calls.observe(event);
      if (event.kind === "queued" && calls.of(event.work).program === null) singles?.queued(event.work);
    },
    forget: (workId) => held.forget(workId),
    due: () => held.due.keys(),
    plannedQueues,
  };
}
