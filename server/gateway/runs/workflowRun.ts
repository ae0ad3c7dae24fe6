import { setMaxListeners } from "node:events";
import type { RunError, StageDone, StageSkipped, WorkflowRun, WorkflowRunEvent } from "@/server/contracts/gateway/workflowRuns";
import { reasonOf } from "@/server/lib/reasonOf";
import { decideNode } from "@/solver/ensemble/gate/nodeGate";
import { voteReader } from "@/solver/ensemble/gate/voteReader";
import { MOST_AGENTS, type WorkflowAgent, type WorkflowDocument } from "@/solver/plan/workflowDocument";
import { abortError } from "../http/abortError";
import type { GivenAnswer } from "./workflowRunMessages";

/** An agent's request that was answered with an error. */
export class AgentFailure extends Error {
  readonly error: Omit<RunError, "agent">;

  constructor(error: Omit<RunError, "agent">) {
    super(error.message);
    this.error = error;
  }
}

interface RunOptions {
  readonly id: string;
  readonly document: WorkflowDocument;
  /** Calls an agent with the answers that it reads; throws an `AgentFailure`, or the abort reason of the signal. */
  readonly ask: (agent: WorkflowAgent, answers: readonly GivenAnswer[], signal: AbortSignal) => Promise<StageDone>;
  /** Called for every event until the run has ended. */
  readonly tell: (event: WorkflowRunEvent) => void;
  /** Aborts the run, with an `AbortKind`. */
  readonly signal: AbortSignal;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
}

/**
 * Runs a workflow: every agent is called as soon as all the answers that it reads are there, so that branches run in parallel. One that may
 * be skipped is not called where these agree: its output is then the leading one. The first
 * failure ends the run; calls in flight are then aborted. Never rejects.
 */
export async function runWorkflow({ id, document, ask, tell, signal, timeScale }: RunOptions): Promise<WorkflowRun> {
  const startedMs = performance.now();
  const failing = new AbortController();
  const ended = AbortSignal.any([signal, failing.signal]);
  // Every agent in flight listens to it.
  setMaxListeners(MOST_AGENTS, ended);
  const stages: StageDone[] = [];
  let error: RunError | null = null;
  const skipped: StageSkipped[] = [];
  const skips = skipper(document);
  const answers = new Map<string, Promise<RunAnswer>>();
  tell({ type: "run.started", id, workflow: document.name, agents: document.agents.map(({ name }) => name) });

  const answer = async (agent: WorkflowAgent): Promise<RunAnswer> => {
    const given = await Promise.all(agent.reads.flatMap((read) => answers.get(read) ?? []));
    ended.throwIfAborted();
    const skip = skips(agent, given);
    if (skip !== null) {
      skipped.push(skip);
      tell({ type: "stage.skipped", ...skip });
      const { outputTokens } = given.find((each) => each.agent === skip.decision.agent) ?? { outputTokens: null };
      return { agent: agent.name, output: skip.output, outputTokens };
    }
    tell({ type: "stage.started", agent: agent.name });
    const done = await ask(agent, given, ended);
    ended.throwIfAborted();
    stages.push(done);
    tell({ type: "stage.completed", ...done });
    return done;
  };
  for (const agent of document.agents) {
    const answered = answer(agent);
    answered.catch((reason: unknown) => {
      error ??= errorOf(reason, { agent: agent.name, signal });
      failing.abort();
    });
    answers.set(agent.name, answered);
  }
  await Promise.allSettled(answers.values());

  const last = document.agents[document.agents.length - 1]?.name;
  const run: WorkflowRun = {
    ...{ id, object: "workflow.run", workflow: document.name, status: error === null ? "completed" : "failed", stages, error },
    seconds: ((performance.now() - startedMs) / 1000) * timeScale,
    output: [...stages, ...skipped].find(({ agent }) => agent === last)?.output ?? null,
    ...(document.agents.some(({ skip }) => skip !== undefined) && { skipped }),
  };
  tell({ type: error === null ? "run.completed" : "run.failed", run });
  return run;
}

/** An agent's output, its own or that of the answer that leads in its place. */
interface RunAnswer extends GivenAnswer {
  /** null: unknown. */
  readonly outputTokens: number | null;
}

/** Decides for an agent whose inputs are there whether it is skipped, and with what output; null: it is called. */
function skipper({ agents }: WorkflowDocument): (agent: WorkflowAgent, given: readonly RunAnswer[]) => StageSkipped | null {
  const readers = new Map(agents.flatMap(({ name, skip }) => (skip === undefined ? [] : [[name, voteReader(skip.extraction)] as const])));
  return ({ name, skip }, given) => {
    const read = readers.get(name);
    if (skip === undefined || read === undefined) return null;
    const votes = given.map(({ agent, output, outputTokens }) => ({ expert: agent, vote: read(output), outputTokens: outputTokens ?? 0 }));
    const decision = decideNode(skip, votes);
    const leading = decision.kind === "skip-node" ? given.find(({ agent }) => agent === decision.agent) : undefined;
    return decision.kind === "skip-node" && leading !== undefined ? { agent: name, decision, output: leading.output } : null;
  };
}

interface Ended {
  readonly agent: string;
  readonly signal: AbortSignal;
}

function errorOf(reason: unknown, { agent, signal }: Ended): RunError {
  if (signal.aborted) {
    const { message, code, status } = abortError(signal);
    return { message, code, status, agent: null };
  }
  if (reason instanceof AgentFailure) return { ...reason.error, agent };
  const message = `The gateway could not call ${agent}: ${reasonOf(reason)}.`;
  return { message, code: "run_failed", status: 502, agent };
}
