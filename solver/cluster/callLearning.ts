import type { Policy } from "@/solver/policies/core/policy";
import { type AgentForecast, PublishedForecasts } from "@/solver/workflow/learning/agentForecast";
import { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { ProgramSample } from "@/solver/workflow/programSample";

/** Virtual seconds between publications of what was learnt in between: a gateway's period. */
const LINE_SECONDS = 2;

/** A request's own data, as in an application's headers. */
export interface CallIdentity {
  readonly programId: string;
  readonly application: string;
  readonly agent: string;
  /** Agents whose answers it reads, one for each answer. */
  readonly upstream: readonly string[];
}

/** A request of a sample: its workflow is the application, its stage's role the agent. */
export function identityOf(sample: ProgramSample, request: number, programId: string): CallIdentity {
  const program = sample.program[request] ?? 0;
  const { name = "", stages = [] } = sample.workflows[sample.workflow[program] ?? 0] ?? {};
  const stage = stages[request - (sample.firstRequest[program] ?? 0)];
  const upstream = stage?.reads.map((read) => stages[read]?.role ?? "") ?? [];
  return { programId, application: name, agent: stage?.role ?? "", upstream };
}

/** The known data of a request that is at an engine or waits for one. */
interface OpenCall extends CallIdentity {
  readonly id: string;
  model: string;
  readonly agentKey: string;
  readonly arrivedSeconds: number;
  dispatchedSeconds: number;
}

/** How a call ended. */
export interface CallEnd {
  readonly nowSeconds: number;
  readonly inputTokens: number;
  /** Null without an answer: the call failed. */
  readonly outputTokens: number | null;
}

/** Reports the requests of a simulation to a learner of workflows as a gateway would, and publishes what it learns. */
export class CallLearning {
  private readonly learner: WorkflowLearner;
  private readonly published: PublishedForecasts;
  /** By request. */
  private readonly calls = new Map<number, OpenCall>();
  private came = 0;
  private learnt = false;
  private lineSeconds = Number.NEGATIVE_INFINITY;

  constructor(learner: WorkflowLearner) {
    this.learner = learner;
    this.published = new PublishedForecasts((agentKey, model) => learner.forecast(agentKey, model));
  }

  /** Increases whenever forecasts are published anew, which it does by itself. */
  revision(nowSeconds: number): number {
    this.publish(nowSeconds);
    return this.published.revision;
  }

  /** A request has joined the queue of a model. @param arrivedSeconds when it could be sent: its client's time. */
  joined(
    request: number,
    identity: CallIdentity,
    at: { readonly model: string; readonly arrivedSeconds: number; readonly nowSeconds: number },
  ): void {
    this.publish(at.nowSeconds);
    const id = String(this.came++);
    const { agentKey } = this.learner.start({ ...identity, id, nowSeconds: at.arrivedSeconds });
    const { model, arrivedSeconds } = at;
    this.calls.set(request, { ...identity, id, agentKey, model, arrivedSeconds, dispatchedSeconds: Number.NaN });
  }

  /** @param model the one that it was sent to: may differ from the one it waited for where the policy chooses at dispatch. */
  dispatched(request: number, model: string, nowSeconds: number): void {
    const call = this.calls.get(request);
    if (call === undefined) return;
    call.model = model;
    call.dispatchedSeconds = nowSeconds;
  }

  /** The forecast in force for the request's agent at the model that it waits for. */
  forecast(request: number): AgentForecast | undefined {
    const call = this.calls.get(request);
    return call && this.published.of(call.agentKey, call.model);
  }

  finished(request: number, { nowSeconds, inputTokens, outputTokens }: CallEnd): void {
    const call = this.calls.get(request);
    if (call === undefined) return;
    this.calls.delete(request);
    const { agentKey: _, ...rest } = call;
    this.learner.finish({ ...rest, finishedSeconds: nowSeconds, inputTokens, outputTokens, failed: outputTokens === null });
    this.learnt = true;
  }

  /** No further call of the program will arrive. */
  ended(programId: string, nowSeconds: number): void {
    this.learner.end(programId, nowSeconds);
    this.learnt = true;
  }

  private publish(nowSeconds: number): void {
    if (!this.learnt || nowSeconds < this.lineSeconds + LINE_SECONDS) return;
    this.learner.refreshLine();
    this.published.publish();
    this.learnt = false;
    this.lineSeconds = nowSeconds;
  }
}

/** The learner of a simulation: the given one, else a new one where the policy reads learnt `workflows`; null for none. */
export function callLearning({ needs }: Pick<Policy, "needs">, learner?: WorkflowLearner): CallLearning | null {
  const learns = learner ?? (needs.includes("workflows") ? new WorkflowLearner() : null);
  return learns && new CallLearning(learns);
}
