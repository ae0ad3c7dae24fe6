import type { IncomingMessage } from "node:http";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import { agentHeader, parentsHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import type { StageDone, WorkflowRunRequest } from "@/server/contracts/gateway/workflowRuns";
import type { WorkflowAgent } from "@/solver/plan/workflowDocument";
import { type LoopbackClient, readLoopbackAnswer } from "../http/loopbackClient";
import { AgentFailure } from "./workflowRun";
import { agentMessages, type GivenAnswer } from "./workflowRunMessages";

/** Parameters of an agent's request in addition to the answers it reads. */
export interface RunAsking {
  readonly id: string;
  readonly workflow: string;
  readonly asked: WorkflowRunRequest;
  /** The request that started the run. */
  readonly from: IncomingMessage;
  readonly loopback: LoopbackClient;
  /** Largest answer that is read; a longer one counts as failed. */
  readonly mostBytes: number;
  /** Reserves memory for stored answers; false if there is none. */
  readonly grow: (bytes: number) => boolean;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
}

/** The subject of one request of a run. */
export interface AgentCall {
  readonly agent: WorkflowAgent;
  readonly answers: readonly GivenAnswer[];
  readonly signal: AbortSignal;
}

/**
 * Asks for an agent's answer at the gateway's own chat endpoint, like any client: admission, queues, retries and records are the same.
 *
 * @throws AgentFailure if the answer is an error; undici's error if there is no answer, or if the signal has fired.
 */
export async function askAgent(asking: RunAsking, call: AgentCall): Promise<StageDone> {
  const { loopback, from, mostBytes, grow, timeScale } = asking;
  const { name } = call.agent;
  const startedMs = performance.now();
  const response = await loopback.ask({ from, headers: headersOf(asking, call), body: bodyOf(asking, call), signal: call.signal });
  const read = await readLoopbackAnswer(response, { who: name, mostBytes, grow });
  if (!read.ok) throw new AgentFailure(read.error);
  const { model, decisionId, usage, output } = read.answer;
  return { agent: name, model, decisionId, seconds: ((performance.now() - startedMs) / 1000) * timeScale, ...usage, output };
}

const headersOf = ({ id, workflow }: RunAsking, { agent: { name, reads } }: AgentCall): Record<string, string> => ({
  ...{ "x-session-id": id, "x-weir-workflow": workflow, "x-weir-stage": name, [agentHeader]: name },
  ...(reads.length === 0 ? {} : { [parentsHeader]: reads.join(",") }),
});

const bodyOf = ({ asked: { input, temperature, seed } }: RunAsking, { agent, answers }: AgentCall): object => ({
  ...{ model: defaultCascade, messages: agentMessages(agent, input, answers) },
  ...{ max_tokens: agent.maxTokens, temperature, seed },
});
