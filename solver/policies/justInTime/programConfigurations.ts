import { BoundedMap } from "@/solver/collections/boundedMap";
import { accurateAfter, addConfiguration, fullSet, intersection, meet } from "@/solver/workflow/configurationSet";
import type { StagedWorkflow } from "./stagedWorkflow";

/** A program's way through its workflow's configurations: those accurate for it, the models of its agents, and the configurations left. */
export class ProgramConfigurations {
  readonly programId: string;
  readonly workflow: StagedWorkflow;
  accurate: Uint32Array;
  /** Accurate ones that agree with all choices; never empty. */
  left: Uint32Array;
  /** The index of each agent's model; -1 where none was chosen yet. */
  readonly chosen: Int8Array;
  /** The configuration it was bound to when it arrived, where the policy binds programs; -1 where it is not bound. */
  bound = -1;
  /** The latest round that processed a request of it. */
  round = 0;
  /** Calls of each agent that wait, calls that are with its model, and whether one was answered. */
  private readonly waiting: Int32Array;
  private readonly inFlight: Int32Array;
  private readonly answered: Uint8Array;
  private said: boolean;
  /** By configuration, as `WaitingWork.margins`; null where nothing is known, so that scores change nothing. */
  private margins: Int8Array | null = null;
  /** By agent, the change of the log odds by the score of its latest answer; 0 before. */
  private readonly shifts: Float64Array;
  /** Members of `left` without the models of `usableOut`, and by agent the models that these use, as bits; 0 if not computed yet. */
  private usable: Uint32Array | null = null;
  private usableOut = 0;
  private readonly allowedModels: Uint8Array;
  /** By agent, model and agent: the models that the second agent may have after the first gets the model, as bits. */
  private readonly allowedLater: Uint8Array;

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
    this.allowedLater = new Uint8Array(agents * workflow.space.models.length * agents);
    this.shifts = new Float64Array(agents);
  }

  /**
   * Stores the predicted accurate set, once, and the margins by which each was accepted or not; ignores those over other configurations. That
   * of the largest models is always accurate.
   */
  say(accurate: Uint32Array | undefined, margins?: Int8Array): void {
    if (this.said || accurate === undefined || accurate.length !== this.accurate.length) return;
    this.said = true;
    this.accurate = accurate.slice();
    addConfiguration(this.accurate, this.workflow.largest);
    if (margins?.length === this.workflow.space.size) this.margins = margins;
    this.prune();
  }

  /** The change of the log odds that it ends accurate, by the scores of its answers so far. */
  get shift(): number {
    return this.shifts.reduce((sum, own) => sum + own, 0);
  }

  /** Those left that need none of the models `out`, given as bits, for an agent without a model. */
  leftWithout(out: number): Uint32Array {
    if (this.usable !== null && this.usableOut === out) return this.usable;
    this.usable = out === 0 ? this.left : this.without(out);
    this.usableOut = out;
    this.allowedModels.fill(0);
    this.allowedLater.fill(0);
    return this.usable;
  }

  /**
   * Prepares a call of an agent while the models `out`, as bits, are not there: if the agent's own model is among these and has no call of
   * it, the agent is open again. Choices of other agents stay, since their answers were read.
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

  /** The models that another agent may have after an agent gets a model, as bits, while the models `out` are not there. */
  allowedAfter(agent: number, model: number, { other, out }: { readonly other: number; readonly out: number }): number {
    const usable = this.leftWithout(out);
    const { having, models } = this.workflow.space;
    const from = (agent * models.length + model) * having.length;
    // What the agent itself may have then is the model: 0 where nothing is computed.
    if (this.allowedLater[from + agent] === 0) {
      const narrowed = intersection(usable, having[agent]?.[model] ?? usable);
      for (const [each, own] of having.entries())
        this.allowedLater[from + each] = own.reduce((bits, words, at) => (meet(narrowed, words) ? bits | (1 << at) : bits), 0);
    }
    return this.allowedLater[from + other] ?? 0;
  }

  /** Whether another call of the agent restarts the program as a session's next turn: it reads none, was answered, has none in flight. */
  isBegunAnewBy(agent: number): boolean {
    if ((this.workflow.space.reads[agent]?.length ?? 0) > 0) return false;
    return this.answered[agent] === 1 && this.waiting[agent] === 0 && this.inFlight[agent] === 0;
  }

  /** A call of the agent waits from now on. */
  came(agent: number): void {
    this.waiting[agent] = (this.waiting[agent] ?? 0) + 1;
  }

  /** A call of the agent no longer waits. */
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

  /**
   * An answer of the agent by the model has this score, 0..100. It replaces that of the agent's answer before, and counts until the agent gets
   * another model.
   */
  scored(agent: number, model: number, score: number): void {
    if (this.chosen[agent] !== model || this.margins === null) return;
    const shift = this.workflow.shiftOf(agent, model, score);
    if (shift === null || shift === this.shifts[agent]) return;
    this.shifts[agent] = shift;
    this.bound = -1;
    this.prune();
  }

  /** A call of the agent ended. If it failed, none was answered and no other is with its model, the model is open again. */
  finished(agent: number, failed: boolean): void {
    this.inFlight[agent] = (this.inFlight[agent] ?? 0) - 1;
    if (!failed) this.answered[agent] = 1;
    else if (this.inFlight[agent] === 0 && this.answered[agent] === 0) this.reopen(agent);
  }

  private reopen(agent: number): void {
    this.chosen[agent] = -1;
    this.shifts[agent] = 0;
    this.prune();
  }

  private prune(): void {
    const { accurate, margins, shift } = this;
    // After a high score agents may have models of no configuration that was found before it.
    this.left =
      margins === null
        ? this.agreeing(accurate)
        : accurateAfter({ accurate, margins, shift, agreeing: this.agreeing(fullSet(margins.length)) });
    this.usable = null;
  }

  /** Those of a set that agree with all choices. */
  private agreeing(set: Uint32Array): Uint32Array {
    let agreeing = set;
    for (const [agent, model] of this.chosen.entries()) {
      if (model >= 0) agreeing = intersection(agreeing, this.workflow.space.having[agent]?.[model] ?? agreeing);
    }
    return agreeing;
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

/** Maximum number of words of all programs' sets, 16 MB: some 6,800 programs of 3^8 configurations. */
const MOST_WORDS = 2 ** 22;
/** Sets of a program: the accurate configurations, those left, and those left without models that are not there. */
const SETS = 3;
/** Margins as sets: a byte for each configuration, not a bit. */
const MARGINS = 8;

/** The state of programs of a policy's workflows: at most 65,536 programs and a maximum of words of sets; beyond that the oldest go. */
export class StagedPrograms {
  private readonly programs = new BoundedMap<ProgramConfigurations>();
  private words = 0;

  /** @param mostWords maximum number of words of their sets. */
  constructor(private readonly mostWords = MOST_WORDS) {}

  get size(): number {
    return this.programs.size;
  }

  /** The program with that id for a call of the agent; restarted where nothing is stored or the call begins its next turn. */
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

  /** No further request of the program will arrive. */
  ended(workflow: StagedWorkflow, programId: string): void {
    const key = keyOf(workflow, programId);
    const known = this.programs.get(key);
    if (known === undefined) return;
    this.programs.delete(key);
    this.words -= wordsOf(known);
  }
}

const keyOf = ({ name }: StagedWorkflow, programId: string): string => `${name} ${programId}`;

const wordsOf = (program: ProgramConfigurations | undefined): number =>
  program === undefined ? 0 : (SETS + (program.workflow.isScored ? MARGINS : 0)) * program.accurate.length;
