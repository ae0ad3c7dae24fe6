import { BoundedMap } from "@/solver/collections/boundedMap";
import { addConfiguration, intersection, meet } from "@/solver/workflow/configurationSet";
import type { StagedWorkflow } from "./stagedWorkflow";

/** A program's way through its workflow's configurations: which are accurate for it, which models its agents were given, and what that leaves. */
export class ProgramConfigurations {
  readonly programId: string;
  readonly workflow: StagedWorkflow;
  accurate: Uint32Array;
  /** Accurate ones that agree with all that was chosen; never without members. */
  left: Uint32Array;
  /** Of each agent, the index of its model; -1 where none was chosen yet. */
  readonly chosen: Int8Array;
  /** The configuration it was bound to when it came, where the policy binds programs; -1 where it is bound to none. */
  bound = -1;
  /** The latest round that weighed a request of it. */
  round = 0;
  /** Calls of each agent that wait, those that are with its model, and whether one was answered. */
  private readonly waiting: Int32Array;
  private readonly inFlight: Int32Array;
  private readonly answered: Uint8Array;
  private said: boolean;
  /** Of `left` those that can do without the models of `usableOut`, and by agent the models that these have, as bits; 0 where not asked yet. */
  private usable: Uint32Array | null = null;
  private usableOut = 0;
  private readonly allowedModels: Uint8Array;

  constructor(programId: string, workflow: StagedWorkflow) {
    this.programId = programId;
    this.workflow = workflow;
    this.accurate = workflow.only(workflow.fixed ?? workflow.largest);
    this.said = workflow.fixed !== null;
    this.left = this.accurate;
    const agents = workflow.space.agents.length;
    this.chosen = new Int8Array(agents).fill(-1);
    this.waiting = new Int32Array(agents);
    this.inFlight = new Int32Array(agents);
    this.answered = new Uint8Array(agents);
    this.allowedModels = new Uint8Array(agents);
  }

  /** Takes what is said to be accurate, once; a set over other configurations says nothing. That of the largest models is accurate by definition. */
  say(accurate: Uint32Array | undefined): void {
    if (this.said || accurate === undefined || accurate.length !== this.accurate.length) return;
    this.said = true;
    this.accurate = accurate.slice();
    addConfiguration(this.accurate, this.workflow.largest);
    this.prune();
  }

  /** Those left that need none of the models `out`, given as bits, for an agent without a model. */
  leftWithout(out: number): Uint32Array {
    if (this.usable !== null && this.usableOut === out) return this.usable;
    this.usable = out === 0 ? this.left : this.without(out);
    this.usableOut = out;
    this.allowedModels.fill(0);
    return this.usable;
  }

  /**
   * An agent is asked while the models `out`, as bits, are not there: where its own is among these and has no call of it, it is open again.
   * Those of other agents stay, since what they answered was read.
   */
  askedWithout(agent: number, out: number): void {
    const own = this.chosen[agent] ?? -1;
    if (own >= 0 && (out & (1 << own)) !== 0 && this.inFlight[agent] === 0) this.reopen(agent);
  }

  /** The models that an agent may run on, as bits, while the models `out` are not there. */
  allowed(agent: number, out: number): number {
    const usable = this.leftWithout(out);
    const known = this.allowedModels[agent] ?? 0;
    if (known !== 0) return known;
    let allowed = 0;
    for (const [model, having] of (this.workflow.space.having[agent] ?? []).entries()) {
      if ((out & (1 << model)) === 0 && meet(usable, having)) allowed |= 1 << model;
    }
    this.allowedModels[agent] = allowed;
    return allowed;
  }

  /** Whether another call of the agent begins the program anew, as the next turn of a session: it reads nobody, was answered, and has no call under way. */
  isBegunAnewBy(agent: number): boolean {
    if ((this.workflow.space.reads[agent]?.length ?? 0) > 0) return false;
    return this.answered[agent] === 1 && this.waiting[agent] === 0 && this.inFlight[agent] === 0;
  }

  /** A call of the agent waits from now on. */
  came(agent: number): void {
    this.waiting[agent] = (this.waiting[agent] ?? 0) + 1;
  }

  /** A call of the agent waits no longer. */
  went(agent: number): void {
    this.waiting[agent] = (this.waiting[agent] ?? 0) - 1;
  }

  /** A call of the agent goes to the model. */
  choose(agent: number, model: number): void {
    this.inFlight[agent] = (this.inFlight[agent] ?? 0) + 1;
    if (this.chosen[agent] === model) return;
    this.chosen[agent] = model;
    this.left = intersection(this.left, this.workflow.space.having[agent]?.[model] ?? this.left);
    this.usable = null;
  }

  /** A call of the agent ended. Where it failed, none was answered and no other is with its model, the model is open again. */
  finished(agent: number, failed: boolean): void {
    this.inFlight[agent] = (this.inFlight[agent] ?? 0) - 1;
    if (!failed) this.answered[agent] = 1;
    else if (this.inFlight[agent] === 0 && this.answered[agent] === 0) this.reopen(agent);
  }

  private reopen(agent: number): void {
    this.chosen[agent] = -1;
    this.prune();
  }

  private prune(): void {
    let left = this.accurate;
    for (const [agent, model] of this.chosen.entries()) {
      if (model >= 0) left = intersection(left, this.workflow.space.having[agent]?.[model] ?? left);
    }
    this.left = left;
    this.usable = null;
  }

  private without(out: number): Uint32Array {
    const set = this.left.slice();
    for (const [agent, having] of this.workflow.space.having.entries()) {
      if ((this.chosen[agent] ?? -1) >= 0) continue;
      for (const [model, words] of having.entries()) {
        if ((out & (1 << model)) === 0) continue;
        for (let at = 0; at < set.length; at += 1) set[at] = (set[at] ?? 0) & ~(words[at] ?? 0);
      }
    }
    return set;
  }
}

/** Words of sets that programs hold in all, 16 MB: some 6,800 programs of 3^8 configurations. */
const MOST_WORDS = 2 ** 22;
/** Sets of a program: the accurate configurations, those left, and those left without models that are not there. */
const SETS = 3;

/** Programs of a policy's workflows as far as they have gone: at most 65,536 of them, and so many words of sets. Beyond that those that began first go. */
export class StagedPrograms {
  private readonly programs = new BoundedMap<ProgramConfigurations>();
  private words = 0;

  /** @param mostWords words of sets that they hold at most. */
  constructor(private readonly mostWords = MOST_WORDS) {}

  get size(): number {
    return this.programs.size;
  }

  /** The program of that id of which the agent is asked, begun anew where nothing is remembered of it or its next turn begins with that. */
  asked(workflow: StagedWorkflow, programId: string, agent: number): ProgramConfigurations {
    const key = keyOf(workflow, programId);
    const known = this.programs.get(key);
    if (known !== undefined && !known.isBegunAnewBy(agent)) return known;
    const program = new ProgramConfigurations(programId, workflow);
    this.words += wordsOf(program) - wordsOf(known);
    this.words -= wordsOf(this.programs.put(key, program));
    while (this.words > this.mostWords && this.programs.size > 1) this.words -= wordsOf(this.programs.takeOldest());
    return program;
  }

  /** No request of the program comes any more. */
  ended(workflow: StagedWorkflow, programId: string): void {
    const key = keyOf(workflow, programId);
    const known = this.programs.get(key);
    if (known === undefined) return;
    this.programs.delete(key);
    this.words -= wordsOf(known);
  }
}

const keyOf = ({ name }: StagedWorkflow, programId: string): string => `${name} ${programId}`;

const wordsOf = (program: ProgramConfigurations | undefined): number => (program === undefined ? 0 : SETS * program.accurate.length);
