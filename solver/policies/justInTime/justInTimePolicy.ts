import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import {
  type Action,
  MOST_HELD,
  MOST_WEIGHED,
  type Need,
  type Policy,
  type ReplicaView,
  type View,
  type WaitingWork,
} from "../core/policy";
import type { Order, Place } from "../core/policyParts";
import { refreshed, seatsOf } from "../core/replicaSeats";
import { HeldWork } from "../waiting/heldWork";
import { Placing } from "../waiting/placements";
import { plannedMemory } from "../waiting/plannedMemory";
import { ReleaseQueue } from "../waiting/releaseQueue";
import { beamSearch } from "./beamSearch";
import { exhaustiveRound, MOST_TRIED } from "./exhaustiveRound";
import { ModelEngines } from "./modelEngines";
import { ProgramBinding } from "./programBinding";
import { RoundLog } from "./roundLog";
import { RoundOrder } from "./roundOrder";
import { RoundQueue, type StagedWork } from "./roundQueue";
import type { RoundSearch } from "./roundSearch";
import { StagedCalls } from "./stagedCalls";
import { StagedWorkflow } from "./stagedWorkflow";
import { WorthChoice } from "./worthChoice";

/**
 * The model of a workflow's stage is chosen when an engine has room (Aragog, section 3.2). All waiting requests are one queue, by default in
 * the order in which their programs began, deeper agents of a program first. When replicas have room below their profiled saturation, a round assigns
 * it to requests by the policy's selection. A request whose program's accurate configurations are still searched for waits, and is passed
 * over, until the search ends (section 3.1). Each request gets a model of at least one configuration that is accurate for its program and
 * agrees with the choices for it so far; the new choice narrows them. A request that no free model may serve is passed over and blocks
 * none. So is one that its place holds back; which then is due, and keeps a replica, is decided as for any queue (`placements.ts`).
 *
 * Requests without a prediction, and those of no declared workflow, go to the largest model. Where no replica of a model is up, the policy
 * uses accurate configurations without it; where there is none, the request is refused. Each model is one stage.
 */
export function justInTimePolicy(document: JustInTimePolicy, { order, place }: { readonly order: Order; readonly place: Place }): Policy {
  const { models, selection } = document;
  const names = models.map(({ model }) => model);
  const largest = names.length - 1;
  const workflows = document.workflows.map((_, index) => new StagedWorkflow(document, index));
  const engines = models.map((profile) => new ModelEngines(profile));
  const free = new Int32Array(names.length);
  const { search, most } = searchOf(document);
  const worth = worthOf(document, engines);
  const log = new RoundLog(names);
  const binding = selection.kind === "cheapest" || selection.kind === "quickest" ? new ProgramBinding(selection, engines) : null;
  const calls = new StagedCalls(workflows, binding);
  const held = new HeldWork();
  const roundOrder = new RoundOrder(order.preference, held);
  const { memoryPlan } = place;
  /** What the place has held back in the current decision. */
  const heldNow = new Set<StagedWork>();
  let placings: readonly Placing[] = [];
  let askAgainSeconds: number | null = null;
  let seen: readonly ReplicaView[] | null = null;
  let out = 0;
  let rounds = 0;

  function allowed(one: StagedWork): number {
    const { program, agent } = one;
    if (program === null) return (1 << largest) & ~out;
    const may = program.allowed(agent, out);
    if (binding === null || may === 0) return may;
    if ((may & (1 << one.bound)) === 0 || one.bound < 0) binding.bind(one, program, out);
    return 1 << one.bound;
  }

  /** Binds the requests that arrived since, in the order of the list. */
  function bindWaiting(waiting: readonly WaitingWork[]): void {
    const queued = waiting.filter(({ state, searching }) => state.kind === "queued" && searching !== true).map((work) => calls.of(work));
    binding?.count(queued, largest);
    for (const one of queued) if (one.bound < 0) allowed(one);
  }

  function see({ replicas, nowSeconds }: View): void {
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
    placings = engines.map(({ slots }) => new Placing({ slots, place, held, nowSeconds }));
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
      if (one.gone || allowed(one) !== 0) continue;
      calls.refused(one);
      held.forget(work.id);
      const who =
        one.program === null
          ? `A request of no declared workflow, or of no agent of it, goes to ${names[largest]}`
          : `No accurate configuration of ${one.program.workflow.name} is left in which ${work.call?.agent} and what comes after it do without ${missing}`;
      actions.push({ kind: "refuse", workId: work.id, cause: "no-configuration", reason: `${who}, of which no engine is up.` });
    }
  }

  /** Returns whether more may go at once. */
  function holdRound({ waiting, nowSeconds }: View, actions: Action[]): boolean {
    for (const [model, own] of engines.entries()) free[model] = own.free;
    if (free.every((slots) => slots === 0)) return false;
    rounds += 1;
    const mayGo = (one: StagedWork): number => (one.work.searching === true || heldNow.has(one) ? 0 : allowed(one));
    const queue = new RoundQueue({
      waiting,
      ordered: roundOrder.isOwn,
      round: rounds,
      out,
      staged: (work) => calls.of(work),
      allowed: mayGo,
    });
    const models = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const assignments = search({ free, gain: (model, requests) => engines[model]?.gain(requests) ?? 0, next: (open) => queue.next(open) });
    const { given, looked } = queue;
    if (looked > 0) log.note({ nowSeconds, looked, models, requests: given, mostTokensPerSecond, assignments });
    let passedOver = 0;
    const heldBefore = heldNow.size;
    for (const [at, one] of given.entries()) {
      const own = engines[assignments[0]?.choices[at] ?? -1];
      if (own === undefined) passedOver += 1;
      else if (own.free > 0) send(one, own, nowSeconds, actions);
    }
    const holdsBack = heldNow.size > heldBefore && heldNow.size < MOST_HELD;
    // A request that another request of its program has just excluded from its bound model is bound again.
    const bindsNow = passedOver > 0 && binding !== null;
    return given.length > 0 && (queue.deferred || bindsNow || holdsBack || given.length === most);
  }

  /** Sends waiting requests, one after another, to their models of highest worth as far as these have room. */
  function holdWorthRound(chooser: WorthChoice, { waiting, nowSeconds }: View, actions: Action[]): void {
    if (engines.every((own) => own.free === 0)) return;
    chooser.begin();
    const models = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const given: StagedWork[] = [];
    const choices: number[] = [];
    for (const work of waiting) {
      if (given.length === MOST_WEIGHED || heldNow.size >= MOST_HELD || engines.every((own) => own.free === 0)) break;
      if (work.state.kind !== "queued" || work.searching === true) continue;
      const one = calls.of(work);
      const chosen = one.gone ? null : chooser.choose(one, allowed(one), { out, sure: () => 1 });
      const own = engines[chosen?.model ?? -1];
      if (chosen === null || own === undefined) continue;
      given.push(one);
      const sent = own.free > 0 && send(one, own, nowSeconds, actions);
      choices.push(sent ? chosen.model : -1);
      if (sent) chooser.changed(chosen.model);
      else chooser.waits(chosen.model);
    }
    if (given.length > 0) {
      const assignments = [{ gain: 0, flexibility: 1, choices: Int8Array.from(choices) }];
      log.note({ nowSeconds, looked: given.length, models, requests: given, mostTokensPerSecond, assignments });
    }
  }

  /** Sends a request to a replica of a model, unless the place holds it back. @returns whether it was sent. */
  function send(one: StagedWork, own: ModelEngines, nowSeconds: number, actions: Action[]): boolean {
    const { work, program, agent } = one;
    const stage = engines.indexOf(own);
    const degraded = place.degraded?.(own.slots) ?? null;
    const replicaId = own.slots.replicaIds[placings[stage]?.place(work) ?? -1];
    own.changed();
    if (replicaId === undefined) {
      heldNow.add(one);
      return false;
    }
    roundOrder.sent(nowSeconds);
    calls.waitsNoLonger(one);
    if (program !== null) {
      program.choose(agent, stage);
      log.sent(program);
    }
    const priority = roundOrder.priorityOf(work);
    actions.push({
      kind: "dispatch",
      workId: work.id,
      replicaId,
      stage,
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

  const reads: readonly Need[] = selection.kind === "fixed" || workflows.length === 0 ? [] : ["configurations"];
  return {
    kind: "just-in-time",
    needs: [...new Set<Need>([...reads, "identifiers", ...order.needs, ...place.needs])],
    preference: null,
    choosesModel: true,
    rounds: () => log.view(),
    start: () => ({ stage: largest, reason: "model-chosen-at-dispatch" }),
    modelOfStage(stage) {
      const model = names[stage];
      if (model === undefined)
        throw new RangeError(`This just-in-time choice is among ${names.length} models; there is no stage ${stage}.`);
      return model;
    },
    judges: () => false,
    accepts: () => true,
    acceptReason: () => "not-judged",
    decide(view) {
      const actions: Action[] = [];
      for (const { id, state } of view.waiting) {
        if (state.kind === "answered") actions.push({ kind: "accept", workId: id, reason: "not-judged" });
      }
      see(view);
      if (out !== 0) reopen(view.waiting);
      if (binding !== null && binding.unbound > 0) bindWaiting(view.waiting);
      if (out !== 0) refuse(view.waiting, actions);
      const ordered = { ...view, waiting: roundOrder.ordered(view.waiting) };
      if (worth !== null) holdWorthRound(worth, ordered, actions);
      else while (holdRound(ordered, actions));
      const hasRoom = placings.some(({ room }) => room > 0);
      askAgainSeconds = heldNow.size > 0 && hasRoom ? (place.askAgainSeconds?.(view.nowSeconds) ?? null) : null;
      return actions;
    },
    ...(place.askAgainSeconds && { askAgainSeconds: () => askAgainSeconds, due: () => held.due.keys() }),
    ...(memoryPlan && { memory: (view) => plannedMemory(memoryPlan(), plannedQueues(view), view.nowSeconds) }),
    observe(event) {
      order.observe?.(event);
      place.observe?.(event);
      if (event.kind === "left") held.forget(event.workId);
      calls.observe(event);
    },
  };
}

/** The choice of models by worth; null where a search over whole rounds chooses. */
function worthOf({ selection, models }: JustInTimePolicy, engines: readonly ModelEngines[]): WorthChoice | null {
  if (selection.kind !== "worth") return null;
  return new WorthChoice(
    engines,
    models.map(({ meanOutputTokens = 1 }) => meanOutputTokens),
    selection,
  );
}

/** The search of a round, and the number of requests it compares. Where each request has one model the oldest that may go is best. */
function searchOf({ selection, models }: JustInTimePolicy): { readonly search: RoundSearch; readonly most: number } {
  if (selection.kind === "exhaustive") return { search: exhaustiveRound, most: MOST_TRIED };
  return { search: beamSearch(selection.kind === "beam" ? selection.width : 1, models.length), most: MOST_WEIGHED };
}
