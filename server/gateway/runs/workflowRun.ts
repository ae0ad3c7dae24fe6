import { setMaxListeners } from "node:events";
import type { RunError, StageDone, WorkflowRun, WorkflowRunEvent } from "@/server/contracts/gateway/workflowRuns";
import { reasonOf } from "@/server/lib/reasonOf";
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
 * Runs a workflow: every agent is called as soon as all the answers that it reads are there, so that branches run in parallel. The first
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
  const answers = new Map<string, Promise<StageDone>>();
  tell({ type: "run.started", id, workflow: document.name, agents: document.agents.map(({ name }) => name) });

  const answer = async (agent: WorkflowAgent): Promise<StageDone> => {
    const given = await Promise.all(agent.reads.flatMap((read) => answers.get(read) ?? []));
    ended.throwIfAborted();
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
    output: stages.find(({ agent }) => agent === last)?.output ?? null,
  };
  tell({ type: error === null ? "run.completed" : "run.failed", run });
  return run;
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
