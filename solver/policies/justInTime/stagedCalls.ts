import { BoundedMap } from "@/solver/collections/boundedMap";
import type { PolicyEvent, WaitingWork, WorkflowCall } from "../core/policy";
import type { ProgramBinding } from "./programBinding";
import { StagedPrograms } from "./programConfigurations";
import type { StagedWork } from "./roundQueue";
import type { StagedWorkflow } from "./stagedWorkflow";

/** The requests that a policy has seen, each with its agent and its program's configurations. */
export class StagedCalls {
  private readonly workflowOf: ReadonlyMap<string, StagedWorkflow>;
  private readonly stagedOf = new WeakMap<WaitingWork, StagedWork>();
  private readonly programs = new StagedPrograms();
  /** Requests of programs' agents that wait or are with an engine. */
  private readonly calls = new BoundedMap<StagedWork>();
  /** Answered requests whose score is awaited; none where no answer is scored. */
  private readonly answered = new BoundedMap<StagedWork>();
  private readonly isScored: boolean;

  constructor(
    private readonly workflows: readonly StagedWorkflow[],
    private readonly binding: ProgramBinding | null,
  ) {
    this.isScored = workflows.some((workflow) => workflow.isScored);
    this.workflowOf = new Map(workflows.map((workflow) => [workflow.name, workflow]));
  }

  /** Whether a call is of an agent of a declared workflow. */
  knows(call: WorkflowCall | undefined): boolean {
    return call !== undefined && this.workflowOf.get(call.workflow)?.agentAt.has(call.agent) === true;
  }

  of(work: WaitingWork): StagedWork {
    const known = this.stagedOf.get(work);
    if (known !== undefined) return known;
    const { programId, call } = work;
    const workflow = this.workflowOf.get(call?.workflow ?? "");
    const agent = workflow?.agentAt.get(call?.agent ?? "");
    const program = workflow === undefined || agent === undefined ? null : this.programs.asked(workflow, programId, agent);
    program?.say(work.accurate, work.margins);
    const one: StagedWork = { work, program, agent: agent ?? -1, bound: -1, gone: false };
    if (program !== null) {
      program.came(one.agent);
      this.calls.put(work.id, one);
    }
    this.stagedOf.set(work, one);
    if (this.binding !== null) this.binding.unbound += 1;
    return one;
  }

  /** It waits no longer: it is sent, refused, or left. */
  waitsNoLonger(one: StagedWork): void {
    if (one.gone) return;
    one.gone = true;
    one.program?.went(one.agent);
  }

  /** The answer to a request by a model has this score, 0..100; null: its gate gave none. */
  scored(workId: string, model: number, score: number | null): void {
    const one = this.answered.get(workId);
    this.answered.delete(workId);
    if (score !== null) one?.program?.scored(one.agent, model, score);
  }

  /** It is refused: no event about it will follow. */
  refused(one: StagedWork): void {
    this.waitsNoLonger(one);
    this.calls.delete(one.work.id);
  }

  observe(event: PolicyEvent): void {
    if (event.kind === "queued") this.of(event.work);
    else if (event.kind === "searched") {
      this.of(event.work).program?.say(event.work.accurate, event.work.margins);
      if (this.binding !== null) this.binding.unbound += 1;
    } else if (event.kind === "ended") for (const workflow of this.workflows) this.programs.ended(workflow, event.programId);
    else if (event.kind === "left" || event.kind === "finished") {
      const call = this.calls.get(event.workId);
      if (call === undefined) return;
      this.calls.delete(event.workId);
      if (event.kind === "left") this.waitsNoLonger(call);
      else {
        call.program?.finished(call.agent, event.failed);
        if (this.isScored && !event.failed) this.answered.put(event.workId, call);
      }
    }
  }
}
