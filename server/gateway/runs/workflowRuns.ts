import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { AbortKind, GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type WorkflowRunEvent, type WorkflowRunRequest, workflowRunRequestSchema } from "@/server/contracts/gateway/workflowRuns";
import { RequestEnd } from "@/server/lib/requestEnd";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { Flow } from "../engines/engineCall";
import { eventStreamHeaders } from "../engines/relayStream";
import { StreamWriter } from "../engines/streamWriter";
import { abortError } from "../http/abortError";
import { type ApiError, sendError, sendJson } from "../http/apiError";
import { BodyReservation } from "../http/bodyMemoryBudget";
import { shownName } from "../http/clientNames";
import type { GatewayLimits } from "../http/limits";
import { programKeyOf, requestIds } from "../http/modelRequest";
import { documentOf } from "../http/readDocument";
import { type Refusal, takeJson } from "../http/takeJson";
import { boundReading, type RequestService } from "../request/serveRequest";
import { AgentFailure, runWorkflow } from "./workflowRun";
import { askAgent } from "./workflowRunAgent";

/** The workflows that a configuration declares; none under policies that do not use them. */
const declaredWorkflows = (config: GatewayConfig | null): readonly WorkflowDocument[] =>
  config?.policy.kind === "just-in-time" ? config.policy.workflows.map(({ workflow }) => workflow) : [];

interface Arrived {
  /** The name in the path. */
  readonly name: string;
  /** Name of the requesting key; null if none is needed. */
  readonly key: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Taken {
  readonly document: WorkflowDocument;
  readonly asked: WorkflowRunRequest;
  readonly signal: AbortSignal;
  readonly place: BodyReservation;
  readonly idHeaders: OutgoingHttpHeaders;
}

interface Taking {
  readonly abort: RequestEnd;
  readonly place: BodyReservation;
}

/** Runs declared workflows in the gateway itself: each agent's request goes to the gateway's own data port. */
export class WorkflowRuns {
  readonly #service: RequestService;
  #underWay = 0;

  constructor(service: RequestService) {
    this.#service = service;
  }

  /** Answers `GET /v1/workflows`. */
  list(response: ServerResponse): void {
    const data = declaredWorkflows(this.#service.serving.config).map(({ name, title, agents }) => ({
      ...{ id: name, object: "workflow", title },
      agents: agents.map(({ name: agent, reads }) => ({ name: agent, reads })),
    }));
    sendJson(response, { object: "list", data });
  }

  /** Answers `POST /v1/workflows/{name}/runs`. */
  async serve(arrived: Arrived): Promise<void> {
    const { name, key, request, response } = arrived;
    const { serving, limits, open, bodies, pace, onRefused } = this.#service;
    const idHeaders = { "x-request-id": requestIds(request.headers).requestId };
    const refuse = (error: ApiError, headers: OutgoingHttpHeaders = {}): void => {
      onRefused(null, error.status, key);
      sendError(response, error, { ...idHeaders, ...headers });
    };
    const declared = declaredWorkflows(serving.config);
    const document = declared.find((workflow) => workflow.name === name);
    if (document === undefined) return refuse(undeclared(name, declared));
    if (this.#service.draining()) return refuse(shuttingDown, { "retry-after": "1" });
    if (this.#underWay >= limits.runs) return refuse(tooMany(limits.runs), { "retry-after": "1" });
    this.#underWay += 1;
    const abort = new RequestEnd();
    const place = new BodyReservation(bodies);
    open.add(abort);
    const deadline = setTimeout(() => abort.abort("deadline" satisfies AbortKind), limits.requestSeconds * 1000);
    response.once("close", () => {
      open.remove(abort);
      place.leave();
      if (!response.writableFinished) abort.abort("client-gone" satisfies AbortKind);
    });
    try {
      const asked = await this.#takeIn(request, { abort, place });
      if (asked === null || response.destroyed) return onRefused(null, abortError(abort.signal).status, key);
      if ("error" in asked) {
        const send = (more: OutgoingHttpHeaders): void => refuse(asked.error, { ...asked.headers, ...more });
        return asked.isHostile ? pace.refuseBody(request, response, send) : send({});
      }
      await this.#run(arrived, { document, asked: asked.document, signal: abort.abortSignal, place, idHeaders });
    } finally {
      clearTimeout(deadline);
      this.#underWay -= 1;
    }
  }

  async #run({ key, request, response }: Arrived, { document, asked, signal, place, idHeaders }: Taken): Promise<void> {
    const { serving, limits, draining, loopback } = this.#service;
    const id = `run-${randomUUID()}`;
    const timeScale = serving.config?.timeScale ?? 1;
    const grow = (bytes: number): boolean => place.grow(bytes);
    const asking = { id, workflow: document.name, asked, from: request, loopback, mostBytes: limits.bodyBytes, grow, timeScale };
    const stream = asked.stream ? new RunEvents(response, { limits, headers: idHeaders }) : null;
    const run = await runWorkflow({
      ...{ id, document, signal, timeScale },
      tell: (event) => stream?.tell(event),
      async ask(agent, answers, ended) {
        // An agent's call counts as a client's, and a draining gateway takes no new ones.
        if (draining()) throw new AgentFailure({ ...shuttingDown, retryAfterSeconds: 1 });
        return askAgent(asking, { agent, answers, signal: ended });
      },
    });
    serving.endProgram(programKeyOf(id, key));
    if (response.destroyed) return;
    const { status = 200, retryAfterSeconds } = run.error ?? {};
    const headers = retryAfterSeconds === undefined ? idHeaders : { ...idHeaders, "retry-after": String(retryAfterSeconds) };
    if (stream === null) sendJson(response, run, { status, headers });
    else stream.end();
    boundReading(response, limits.clientStallSeconds);
  }

  /** The parsed request, or the problem with it; null if the client disconnected. */
  async #takeIn(request: IncomingMessage, { abort, place }: Taking): Promise<{ readonly document: WorkflowRunRequest } | Refusal | null> {
    const { bodyBytes, bodyJson, arrivalSeconds } = this.#service.limits;
    const taken = await takeJson(request, { mostBytes: bodyBytes, json: bodyJson, arrivalSeconds, abort, place });
    if (taken === "gone") return null;
    return "error" in taken ? taken : documentOf(taken.value, workflowRunRequestSchema);
  }
}

function undeclared(name: string, declared: readonly WorkflowDocument[]): ApiError {
  const there = declared.length === 0 ? "none" : declared.map((workflow) => workflow.name).join(", ");
  const message = `There is no workflow ${shownName(name)} here: the plan in force declares ${there}.`;
  return { status: 404, message, type: "not_found_error", code: "unknown_workflow" };
}

function tooMany(runs: number): ApiError {
  const message = `${runs} workflow runs are in progress, the gateway's limit.`;
  return { status: 429, message, type: "rate_limit_error", code: "too_many_runs" };
}

const shuttingDown: ApiError = {
  status: 503,
  message: "The gateway is shutting down and starts no new runs.",
  type: "server_error",
  code: "shutting_down",
};

interface EventsOptions {
  readonly limits: Pick<GatewayLimits, "clientStallSeconds" | "heartbeatSeconds">;
  readonly headers: OutgoingHttpHeaders;
}

/** A run is not paused if its client reads slowly: the memory for all its events is already reserved. */
const unheld: Flow = { headers: {}, pause: () => undefined, resume: () => undefined, abort: () => undefined };

/** The server-sent events of a run, and comments while nothing happens, so that no proxy considers the connection dead. */
class RunEvents {
  readonly #response: ServerResponse;
  readonly #writer: StreamWriter;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: ServerResponse, { limits, headers }: EventsOptions) {
    this.#response = response;
    this.#writer = new StreamWriter(response, { stallSeconds: limits.clientStallSeconds });
    response.writeHead(200, { ...headers, ...eventStreamHeaders });
    this.#heartbeat = setInterval(() => this.#write(": still running\n\n"), limits.heartbeatSeconds * 1000);
    response.once("close", () => clearInterval(this.#heartbeat));
  }

  tell(event: WorkflowRunEvent): void {
    this.#write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    this.#heartbeat.refresh();
  }

  end(): void {
    clearInterval(this.#heartbeat);
    this.#response.end();
  }

  #write(text: string): void {
    if (!this.#response.destroyed) this.#writer.write(Buffer.from(text), unheld);
  }
}
