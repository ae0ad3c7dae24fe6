import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import type { Action, Policy, ReplicaView, WaitingWork } from "../core/policy";
import { find } from "./worldOfContract";

/** A turn of a program: the configurations accurate for it, and the progress of its agents. */
interface Turn {
  readonly space: ConfigurationSpace;
  readonly workflow: WorkflowDocument;
  accurate: readonly number[];
  /** Whether a request has stated what is accurate for it. */
  said: boolean;
  readonly chosen: number[];
  readonly answered: boolean[];
  /** Calls of each agent that run, and that wait or run. */
  readonly running: number[];
  readonly underWay: number[];
}

/** A call of an agent, in the turn in which it was asked. */
interface Call {
  readonly work: WaitingWork;
  readonly turn: Turn;
  readonly agent: number;
}

/** Programs of workflows as a client would run them, and the expected behaviour of their policy, by trying every configuration. */
class ClientPrograms {
  readonly waiting: WaitingWork[] = [];
  readonly running: { readonly call: Call; readonly replicaId: string }[] = [];
  /** The latest turn of each. */
  private readonly programs: Turn[] = [];
  private readonly calls = new Map<string, Call>();
  private came = 0;

  constructor(
    private readonly document: JustInTimePolicy,
    private readonly policy: Policy,
  ) {}

  /** @param accurate numbers that map to configurations of it; null where no prediction is given. */
  begin(workflow: WorkflowDocument, accurate: readonly number[] | null, nowSeconds: number): void {
    const program = this.programs.length;
    const { space } = this.turnOf(program, workflow, accurate);
    for (const agent of space.agents.keys()) if (space.reads[agent]?.length === 0) this.ask(program, agent, { accurate, nowSeconds });
  }

  private turnOf(program: number, workflow: WorkflowDocument, accurate: readonly number[] | null): Turn {
    const space = configurationSpace(workflow, this.names());
    const { selection } = this.document;
    const all = Array.from({ length: space.size }, (_, configuration) => configuration);
    const fixed = selection.kind === "fixed" ? selection.configurations[workflow.name] : undefined;
    const own = fixed
      ? all.filter((one) => space.agents.every((name, agent) => space.models[modelIn(space, one, agent)] === fixed[name]))
      : withLargest(space, accurate);
    const each = <Value>(value: Value): Value[] => space.agents.map(() => value);
    const flags = { chosen: each(-1), answered: each(false), running: each(0), underWay: each(0) };
    const turn = { space, workflow, accurate: own, said: fixed !== undefined || accurate !== null, ...flags };
    this.programs[program] = turn;
    return turn;
  }

  private ask(program: number, agent: number, of: { accurate: readonly number[] | null; nowSeconds: number }): void {
    const before = this.programs[program];
    if (before === undefined) return;
    const { workflow, space } = before;
    const isNextTurn = space.reads[agent]?.length === 0 && before.answered[agent] && before.underWay[agent] === 0;
    const turn = isNextTurn ? this.turnOf(program, workflow, of.accurate) : before;
    if (!turn.said && of.accurate !== null) {
      turn.accurate = withLargest(space, of.accurate);
      turn.said = true;
    }
    const set = emptySet(space.size);
    for (const configuration of saidOf(space, of.accurate)) addConfiguration(set, configuration);
    const work: WaitingWork = {
      ...{ id: `w${this.came++}`, programId: `p${program}`, stage: this.names().length - 1, inputTokens: 5, state: { kind: "queued" } },
      // Several programs begin at one moment.
      ...{ programArrivalSeconds: Math.floor(program / 3), queuedSinceSeconds: of.nowSeconds },
      call: { workflow: workflow.name, agent: space.agents[agent] ?? "" },
      ...(of.accurate && { accurate: set }),
    };
    turn.underWay[agent] = (turn.underWay[agent] ?? 0) + 1;
    this.calls.set(work.id, { work, turn, agent });
    const later = this.waiting.findIndex(({ programArrivalSeconds }) => programArrivalSeconds > work.programArrivalSeconds);
    this.waiting.splice(later < 0 ? this.waiting.length : later, 0, work);
    this.policy.observe({ kind: "queued", work });
  }

  /** Agents that wait for models that are out, and have no call there, may have others. */
  reopen(out: readonly boolean[]): void {
    for (const { id } of this.waiting) {
      const call = this.calls.get(id);
      if (call === undefined) continue;
      const { chosen, running } = call.turn;
      if (out[chosen[call.agent] ?? -1] && running[call.agent] === 0) chosen[call.agent] = -1;
    }
  }

  /** Models that the request may run on while others are out, found among all configurations. */
  may({ id }: WaitingWork, out: readonly boolean[]): readonly number[] {
    const call = this.calls.get(id);
    if (call === undefined) return [];
    const { space, chosen, accurate } = call.turn;
    const usable = accurate.filter((configuration) =>
      chosen.every((model, other) => {
        const own = modelIn(space, configuration, other);
        return model < 0 ? !out[own] : own === model;
      }),
    );
    return [...new Set(usable.map((configuration) => modelIn(space, configuration, call.agent)))].filter((model) => !out[model]);
  }

  carryOut(actions: readonly Action[], nowSeconds: number): void {
    for (const action of actions) {
      const at = this.waiting.findIndex(({ id }) => id === action.workId);
      const [work] = this.waiting.splice(at, 1);
      const call = this.calls.get(action.workId);
      if (work === undefined || call === undefined) continue;
      const { turn, agent } = call;
      if (action.kind !== "dispatch") {
        turn.underWay[agent] = (turn.underWay[agent] ?? 0) - 1;
        continue;
      }
      const { replicaId, stage = -1 } = action;
      turn.chosen[agent] = stage;
      turn.running[agent] = (turn.running[agent] ?? 0) + 1;
      this.running.push({ call, replicaId });
      this.policy.observe({ kind: "dispatched", workId: work.id, programId: work.programId, replicaId, nowSeconds });
    }
  }

  /** A call ends: if it failed its client retries, and may retry if it was answered. */
  end(
    index: number,
    { failed, again, accurate }: { failed: boolean; again: boolean; accurate: readonly number[] | null },
    nowSeconds: number,
  ) {
    const [ended] = this.running.splice(index, 1);
    if (ended === undefined) return;
    const { work, turn, agent } = ended.call;
    const { space, chosen, answered, running, underWay } = turn;
    const program = Number(work.programId.slice(1));
    this.policy.observe({ kind: "finished", workId: work.id, replicaId: ended.replicaId, nowSeconds, failed });
    running[agent] = (running[agent] ?? 0) - 1;
    underWay[agent] = (underWay[agent] ?? 0) - 1;
    if (!failed) answered[agent] = true;
    else if (running[agent] === 0 && !answered[agent]) chosen[agent] = -1;
    // Calls of a previous turn trigger no further calls.
    if (this.programs[program] !== turn) return;
    if (failed || again) return this.ask(program, agent, { accurate: again ? accurate : null, nowSeconds });
    for (const [reader, reads] of space.reads.entries()) {
      const ready = reads.includes(agent) && reads.every((read) => answered[read]);
      if (ready) this.ask(program, reader, { accurate: null, nowSeconds });
    }
    if (answered.every(Boolean) && underWay.every((calls) => calls === 0))
      this.policy.observe({ kind: "ended", programId: work.programId });
  }

  /** The place of a request in the order of precedence. */
  claims(): readonly WaitingWork[] {
    const firsts = new Map<Turn | undefined, number>();
    const turn = ({ id }: WaitingWork): Turn | undefined => this.calls.get(id)?.turn;
    for (const [at, work] of this.waiting.entries()) if (!firsts.has(turn(work))) firsts.set(turn(work), at);
    const depth = ({ id }: WaitingWork): number => {
      const call = this.calls.get(id);
      return call?.turn.space.depth[call.agent] ?? 0;
    };
    const first = (work: WaitingWork): number => firsts.get(turn(work)) ?? 0;
    return [...this.waiting].sort((a, b) => first(a) - first(b) || depth(b) - depth(a));
  }

  private names(): readonly string[] {
    return this.document.models.map(({ model }) => model);
  }
}

/** Configurations that numbers map to. */
const saidOf = ({ size }: ConfigurationSpace, accurate: readonly number[] | null): readonly number[] =>
  (accurate ?? []).map((number) => number % size);

/** Those, and the largest models throughout, which are accurate by definition. */
const withLargest = (space: ConfigurationSpace, accurate: readonly number[] | null): readonly number[] => [
  ...new Set([...saidOf(space, accurate), space.size - 1]),
];

const anyAccurate = fc.option(fc.array(fc.nat(6560), { maxLength: 9 }));

const anyTurn = fc.record({
  begins: fc.array(fc.record({ workflow: fc.nat(7), accurate: anyAccurate }), { maxLength: 4 }),
  /** By model: requests of others at its two replicas, whether they take work, and whether they are down. */
  others: fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.boolean()), { minLength: 8, maxLength: 8 }),
  down: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 8, maxLength: 8 }),
  ends: fc.array(fc.record({ at: fc.nat(99), fate: fc.integer({ min: 0, max: 4 }), accurate: anyAccurate }), { maxLength: 6 }),
});

/** The guarantees of a policy that chooses models just in time, in addition to the contract of all policies. */
export function justInTimeContract(name: string, document: JustInTimePolicy, build: () => Policy): void {
  const { models, selection } = document;
  // A request bound to one model waits for that model, whatever else it might run on; by worth it may wait for a better one.
  const mayWait = ["cheapest", "quickest", "worth"].includes(selection.kind);

  it(`${name}: serves in the order of claims, on models that accurate configurations have, and leaves no slot that one may have, unless it waits for a better`, () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 16 }), (turns) => {
        const policy = build();
        const programs = new ClientPrograms(document, policy);
        for (const [nowSeconds, { begins, others, down, ends }] of turns.entries()) {
          for (const { workflow, accurate } of begins) {
            const own = document.workflows[workflow % document.workflows.length]?.workflow;
            if (own !== undefined) programs.begin(own, accurate, nowSeconds);
          }
          const out = models.map((_, model) => (down[model] ?? 0) === 0);
          const replicas = models.flatMap(({ model }, at): ReplicaView[] => {
            const [one = 0, other = 0, accepting = true] = others[at] ?? [];
            return [one, other].map((inFlight, index) => ({
              ...{ id: `${model}-${index}`, model, inFlight, maxInFlight: 3, kvUse: { state: "absent" } },
              ...{ accepting: !out[at] && (accepting || index === 0), down: out[at] === true },
            }));
          });
          const before = programs.waiting.length;
          programs.reopen(out);
          const claims = programs.claims();
          const actions = policy.decide({ nowSeconds, waiting: [...programs.waiting], replicas });

          const load = new Map(replicas.map(({ id, inFlight }) => [id, inFlight]));
          for (const action of actions) {
            const work = find(claims, action.workId);
            if (action.kind === "refuse") {
              expect(programs.may(work, out)).toEqual([]);
              expect(action.reason).toContain(work.call?.agent);
              programs.carryOut([action], nowSeconds);
              continue;
            }
            expect(action.kind).toBe("dispatch");
            if (action.kind !== "dispatch") continue;
            const { stage = -1, replicaId } = action;
            expect(programs.may(work, out)).toContain(stage);
            const replica = find(replicas, replicaId);
            expect(replica).toMatchObject({ model: models[stage]?.model, accepting: true });
            const inFlight = (load.get(replicaId) ?? 0) + 1;
            load.set(replicaId, inFlight);
            expect(inFlight).toBeLessThanOrEqual(Math.min(replica.maxInFlight, models[stage]?.saturationBatch ?? 0));
            programs.carryOut([action], nowSeconds);
          }
          expect(programs.waiting.length).toBe(before - actions.length);

          const room = models.map(({ model, saturationBatch }) =>
            replicas.some((one) => {
              const most = Math.min(one.maxInFlight, saturationBatch);
              return one.model === model && one.accepting && (load.get(one.id) ?? 0) < most;
            }),
          );
          const given = new Set<number>();
          for (const work of [...claims].reverse()) {
            const action = actions.find(({ workId }) => workId === work.id);
            if (action?.kind === "dispatch") given.add(action.stage ?? -1);
            if (action !== undefined) continue;
            const may = programs.may(work, out);
            expect(may).not.toEqual([]);
            if (mayWait) continue;
            expect(may.filter((model) => room[model])).toEqual([]);
            // No request of lower precedence has a model that it could have had.
            expect(may.filter((model) => given.has(model))).toEqual([]);
          }
          for (const { at, fate, accurate } of ends) {
            const ended = { failed: fate === 0, again: fate === 1, accurate };
            if (programs.running.length > 0) programs.end(at % programs.running.length, ended, nowSeconds);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
}
