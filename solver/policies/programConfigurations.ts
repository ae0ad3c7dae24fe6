import { addConfiguration, intersection, meet } from "../workflow/configurationSet";
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
  /** Calls of each agent that were sent to its model and have not failed. */
  private readonly calls: Int32Array;
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
    this.calls = new Int32Array(agents);
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

  /** A call of the agent goes to the model. */
  choose(agent: number, model: number): void {
    this.calls[agent] = (this.calls[agent] ?? 0) + 1;
    if (this.chosen[agent] === model) return;
    this.chosen[agent] = model;
    this.left = intersection(this.left, this.workflow.space.having[agent]?.[model] ?? this.left);
    this.usable = null;
  }

  /** A call of the agent failed: where no other is with its model, the model is open again. */
  failed(agent: number): void {
    const calls = (this.calls[agent] ?? 0) - 1;
    this.calls[agent] = calls;
    if (calls > 0) return;
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
