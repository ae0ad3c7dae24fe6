import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher, Pool } from "undici";
import { defaultCascade } from "@/server/contracts/gatewayAdmin";
import { agentHeader, upstreamHeader } from "@/server/contracts/gatewayWorkflows";
import type { StageDone, WorkflowRunRequest } from "@/server/contracts/workflowRuns";
import type { WorkflowAgent } from "@/solver/plan/workflowDocument";
import { noBodyRoom } from "./bodyRoom";
import { chatAnswer, chatEndpoint } from "./chatEndpoint";
import { isRecord } from "./isRecord";
import { usageOf } from "./usage";
import { AgentFailure } from "./workflowRun";
import { agentMessages, type GivenAnswer } from "./workflowRunMessages";

/** Of the headers that started the run, those that go on with every agent's request. */
const passedHeaders = ["authorization", "traceparent", "tracestate", "x-gateway-inference-objective"] as const;

/** What an agent of a run is asked with beside what it reads. */
export interface RunAsking {
  readonly id: string;
  readonly workflow: string;
  readonly asked: WorkflowRunRequest;
  /** Of the request that started the run. */
  readonly headers: IncomingHttpHeaders;
  /** To the gateway's own data port. */
  readonly pool: Pool;
  /** Of an answer that is read; a longer one has failed. */
  readonly mostBytes: number;
  /** Asked for room for what is kept of answers; false where there is none. */
  readonly grow: (bytes: number) => boolean;
  /** Engine seconds in one of the wall. */
  readonly timeScale: number;
}

/** How often an answer stands in memory: as it is kept, and in each of the two events of a stream that a client may leave unread. */
const copies = 3;

/** What one request of a run is about. */
export interface AgentCall {
  readonly agent: WorkflowAgent;
  readonly answers: readonly GivenAnswer[];
  readonly signal: AbortSignal;
}

/**
 * Asks for an agent's answer at the gateway's own chat endpoint, as any client would: admission, queues, retries and records are the same.
 *
 * @throws AgentFailure where it is answered with an error; what undici throws where there is no answer, or the signal has fired.
 */
export async function askAgent(asking: RunAsking, call: AgentCall): Promise<StageDone> {
  const { pool, mostBytes, grow, timeScale } = asking;
  const { agent, signal } = call;
  const startedMs = performance.now();
  const { statusCode, headers, body } = await pool.request({
    method: "POST",
    path: chatEndpoint.path,
    headers: headersOf(asking, call),
    body: bodyOf(asking, call),
    signal,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes)
      throw failure(`The answer of ${agent.name} is longer than the ${mostBytes} bytes a run passes on.`, "answer_too_long", 502);
    if (!grow(copies * chunk.length)) throw new AgentFailure({ ...noBodyRoom, retryAfterSeconds: 1 });
    chunks.push(chunk);
  }
  const answer = parsed(Buffer.concat(chunks).toString("utf8"));
  if (statusCode !== 200) throw refusalOf(answer, agent.name, { statusCode, headers });
  const output = chatAnswer(answer);
  if (output === null) throw failure(`The engine's answer for ${agent.name} has no choice.`, "no_answer", 502);
  return {
    agent: agent.name,
    model: String(headers["x-weir-model"] ?? ""),
    decisionId: String(headers["x-weir-decision-id"] ?? ""),
    seconds: ((performance.now() - startedMs) / 1000) * timeScale,
    ...usageOf(answer),
    output,
  };
}

function headersOf({ id, workflow, headers }: RunAsking, { agent: { name, reads } }: AgentCall): Record<string, string> {
  const passed = passedHeaders.flatMap((header) => {
    const value = headers[header];
    return typeof value === "string" ? [[header, value] as const] : [];
  });
  return {
    ...Object.fromEntries(passed),
    ...{ "content-type": "application/json", "x-session-id": id, "x-weir-workflow": workflow, "x-weir-stage": name, [agentHeader]: name },
    ...(reads.length === 0 ? {} : { [upstreamHeader]: reads.join(",") }),
  };
}

const bodyOf = ({ asked: { input, temperature, seed } }: RunAsking, { agent, answers }: AgentCall): string =>
  JSON.stringify({ model: defaultCascade, messages: agentMessages(agent, input, answers), max_tokens: agent.maxTokens, temperature, seed });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const failure = (message: string, code: string, status: number): AgentFailure => new AgentFailure({ message, code, status });

/** What the agent's own client would have been told. */
function refusalOf(
  answer: unknown,
  agent: string,
  { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">,
): AgentFailure {
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  const message = typeof error.message === "string" ? error.message : `The request for ${agent} was answered with ${statusCode}.`;
  const code = typeof error.code === "string" ? error.code : "agent_failed";
  const retryAfterSeconds = Number(headers["retry-after"]);
  return new AgentFailure({ message, code, status: statusCode, ...(Number.isInteger(retryAfterSeconds) ? { retryAfterSeconds } : {}) });
}
