import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { JustInTimePolicy } from "../plan/policySchema";
import type { WorkflowDocument } from "../plan/workflowDocument";
import { addConfiguration, emptySet } from "../workflow/configurationSet";
import { type ConfigurationSpace, configurationSpace, modelIn } from "../workflow/configurationSpace";
import type { Action, Policy, ReplicaView, WaitingWork } from "./policy";
import { find } from "./worldOfContract";

/** Programs of workflows as a client would run them, and what may be expected of the policy that serves them, by trying every configuration. */
class ClientPrograms {
  readonly waiting: WaitingWork[] = [];
  readonly running: { readonly work: WaitingWork; readonly replicaId: string; readonly model: number }[] = [];
  private readonly programs: {
    readonly space: ConfigurationSpace;
    accurate: readonly number[];
    readonly chosen: number[];
    answered: boolean[];
  }[] = [];
  private came = 0;

  constructor(
    private readonly document: JustInTimePolicy,
    private readonly policy: Policy,
  ) {}

  /** @param accurate numbers that stand for configurations of it; null where nothing is said of it. */
  begin(workflow: WorkflowDocument, accurate: readonly number[] | null, nowSeconds: number): void {
    const space = configurationSpace(workflow, this.names());
    const { selection } = this.document;
    const all = Array.from({ length: space.size }, (_, configuration) => configuration);
    const said = (accurate ?? []).map((number) => number % space.size);
    const fixed = selection.kind === "fixed" ? selection.configurations[workflow.name] : undefined;
    const own = fixed
      ? all.filter((one) => space.agents.every((name, agent) => space.models[modelIn(space, one, agent)] === fixed[name]))
      : [...new Set([...said, space.size - 1])];
    const program = this.programs.length;
    const none = space.agents.map(() => -1);
    this.programs.push({ space, accurate: own, chosen: none, answered: none.map(() => false) });
    const set = emptySet(space.size);
    for (const configuration of said) addConfiguration(set, configuration);
    for (const agent of space.agents.keys())
      if (space.reads[agent]?.length === 0) this.ask(program, agent, { workflow, set: accurate && set, nowSeconds });
  }

  private ask(program: number, agent: number, of: { workflow: WorkflowDocument; set?: Uint32Array | null; nowSeconds: number }): void {
    const work: WaitingWork = {
      ...{ id: `w${this.came++}`, programId: `p${program}`, stage: this.names().length - 1, inputTokens: 5, state: { kind: "queued" } },
      // Several programs begin at one moment.
      ...{ programArrivalSeconds: Math.floor(program / 3), queuedSinceSeconds: of.nowSeconds },
      call: { workflow: of.workflow.name, agent: of.workflow.agents[agent]?.name ?? "" },
      ...(of.set && { accurate: of.set }),
    };
    const later = this.waiting.findIndex(({ programArrivalSeconds }) => programArrivalSeconds > work.programArrivalSeconds);
    this.waiting.splice(later < 0 ? this.waiting.length : later, 0, work);
    this.policy.observe({ kind: "queued", work });
  }

  /** Models that the request may run on while others are out, found among all configurations. */
  may({ programId, call }: WaitingWork, out: readonly boolean[]): readonly number[] {
    const program = this.programs[Number(programId.slice(1))];
    if (program === undefined) return [];
    const { space, chosen } = program;
    const agent = space.agents.indexOf(call?.agent ?? "");
    const usable = program.accurate.filter((configuration) =>
      chosen.every((model, other) => {
        const own = modelIn(space, configuration, other);
        return model < 0 ? !out[own] : own === model;
      }),
    );
    return [...new Set(usable.map((configuration) => modelIn(space, configuration, agent)))];
  }

  carryOut(actions: readonly Action[], nowSeconds: number): void {
    for (const action of actions) {
      const at = this.waiting.findIndex(({ id }) => id === action.workId);
      const [work] = this.waiting.splice(at, 1);
      if (work === undefined || action.kind !== "dispatch") continue;
      const { replicaId, stage = -1 } = action;
      const program = this.programs[Number(work.programId.slice(1))];
      const agent = program?.space.agents.indexOf(work.call?.agent ?? "") ?? -1;
      if (program !== undefined) program.chosen[agent] = stage;
      this.running.push({ work, replicaId, model: stage });
      this.policy.observe({ kind: "dispatched", workId: work.id, programId: work.programId, replicaId, nowSeconds });
    }
  }

  /** A call ends; where it failed, its client asks again. */
  end(index: number, failed: boolean, nowSeconds: number): void {
    const [call] = this.running.splice(index, 1);
    if (call === undefined) return;
    const { work, replicaId } = call;
    const number = Number(work.programId.slice(1));
    const program = this.programs[number];
    const workflow = this.document.workflows.find((one) => one.workflow.name === work.call?.workflow)?.workflow;
    if (program === undefined || workflow === undefined) return;
    const agent = program.space.agents.indexOf(work.call?.agent ?? "");
    this.policy.observe({ kind: "finished", workId: work.id, replicaId, nowSeconds, failed });
    if (failed) {
      program.chosen[agent] = -1;
      this.ask(number, agent, { workflow, nowSeconds });
      return;
    }
    program.answered[agent] = true;
    for (const [reader, reads] of program.space.reads.entries()) {
      const ready = reads.includes(agent) && reads.every((read) => program.answered[read]);
      if (ready) this.ask(number, reader, { workflow, nowSeconds });
    }
    if (program.answered.every(Boolean)) this.policy.observe({ kind: "ended", programId: work.programId });
  }

  /** The place of a request in the order in which requests have a claim. */
  claims(): readonly WaitingWork[] {
    const firsts = new Map<string, number>();
    for (const [at, { programId }] of this.waiting.entries()) if (!firsts.has(programId)) firsts.set(programId, at);
    const depth = ({ programId, call }: WaitingWork): number => {
      const space = this.programs[Number(programId.slice(1))]?.space;
      return space?.depth[space.agents.indexOf(call?.agent ?? "")] ?? 0;
    };
    const first = ({ programId }: WaitingWork): number => firsts.get(programId) ?? 0;
    return [...this.waiting].sort((a, b) => first(a) - first(b) || depth(b) - depth(a));
  }

  private names(): readonly string[] {
    return this.document.models.map(({ model }) => model);
  }
}

const anyTurn = fc.record({
  begins: fc.array(fc.record({ workflow: fc.nat(7), accurate: fc.option(fc.array(fc.nat(6560), { maxLength: 9 })) }), { maxLength: 4 }),
  /** By model: requests that its two replicas have of others, whether they take work, and whether they are down. */
  others: fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.boolean()), { minLength: 8, maxLength: 8 }),
  down: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 8, maxLength: 8 }),
  ends: fc.array(fc.record({ at: fc.nat(99), failed: fc.integer({ min: 0, max: 4 }) }), { maxLength: 6 }),
});

/** What a policy promises that chooses models just in time, beside the contract of all policies. */
export function justInTimeContract(name: string, document: JustInTimePolicy, build: () => Policy): void {
  const { models, selection } = document;
  // What is bound to one model waits for that, whatever else it might run on.
  const bound = selection.kind === "cheapest" || selection.kind === "quickest";

  it(`${name}: serves in the order of claims, on models that accurate configurations have, and leaves no slot that one may have`, () => {
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
            if (bound) continue;
            expect(may.filter((model) => room[model])).toEqual([]);
            // Nothing with a later claim has what it could have had.
            expect(may.filter((model) => given.has(model))).toEqual([]);
          }
          for (const { at, failed } of ends) {
            if (programs.running.length > 0) programs.end(at % programs.running.length, failed === 0, nowSeconds);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
}
