import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { AbortKind, Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { RequestEnd } from "@/server/lib/requestEnd";
import type { Roster } from "@/server/lib/roster";
import type { HostedAccounts } from "../budgets/hostedAccounts";
import type { KeyBudgets } from "../budgets/keyBudgets";
import { requestRateHeaders } from "../budgets/rateHeaders";
import type { ClientPace } from "../clients/clientPace";
import type { EnsembleCalls } from "../ensembles/ensembleCalls";
import { clientGone } from "../http/abortError";
import { retryAfter, sendError } from "../http/apiError";
import { type BodyMemoryBudget, BodyReservation } from "../http/bodyMemoryBudget";
import type { Caller } from "../http/callers";
import type { Endpoint } from "../http/endpoint";
import type { GatewayLimits } from "../http/limits";
import type { LoopbackClient } from "../http/loopbackClient";
import { type ModelRequest, modelRequestOf, promptEnd, type RequestIds, requestIds } from "../http/modelRequest";
import { type Refusal, type TakenJson, takeJson } from "../http/takeJson";
import type { Serving } from "../serving/serving";
import { admit } from "./admission";
import { ClientAnswer } from "./clientAnswer";
import { RequestJournal } from "./requestJournal";
import { type FinishedRun, RequestRun } from "./requestRun";
import type { Traces } from "./traces";

export interface RequestService {
  readonly serving: Serving;
  readonly limits: GatewayLimits;
  /** Null: tracing is off. */
  readonly traces: Traces | null;
  readonly draining: () => boolean;
  /** One for every request with an incomplete response; fired to end it before that. */
  readonly open: Roster<RequestEnd>;
  readonly bodies: BodyMemoryBudget;
  readonly pace: ClientPace;
  readonly budgets: KeyBudgets;
  readonly hosted: HostedAccounts;
  readonly loopback: LoopbackClient;
  readonly ensembles: EnsembleCalls;
  /** Called for every request that is not admitted; `served` is null if it named no served model, `key` null if it has none. */
  readonly onRefused: (served: string | null, status: number, key: string | null) => void;
  /** Called for the shed ones among them. */
  readonly onShed: (served: string, decision: Omit<Decision, "sequence">) => void;
  /** Called for every admitted request when it is finished. */
  readonly onDecision: (served: string, decision: Omit<Decision, "sequence">) => void;
}

/** A request for a model that has just arrived. */
export interface Arrival {
  readonly endpoint: Endpoint;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Takes a request in, or answers why it is not: then null. */
export async function takeArrival(arrival: Arrival, service: RequestService): Promise<AdmittedByKey | null> {
  const arrivedMs = performance.now();
  const { caller, request, response } = arrival;
  const { open, bodies, onRefused } = service;
  const ids = requestIds(request.headers);
  const abort = new RequestEnd();
  const place = new BodyReservation(bodies);
  open.add(abort);
  response.on("close", () => {
    open.remove(abort);
    place.leave();
    if (!response.writableFinished) abort.abort("client-gone" satisfies AbortKind);
  });
  // The rest of the turn in which the headers were read brings a short body.
  await null;
  const taking = takeIn(arrival, { ids, abort, place, service });
  const taken = taking instanceof Promise ? await taking : taking;
  if (taken === "gone") {
    onRefused(null, clientGone, caller.key);
    return null;
  }
  const idHeaders = { "x-request-id": ids.requestId, "x-weir-decision-id": ids.decisionId };
  if ("error" in taken) {
    const { error, headers, isHostile } = taken;
    onRefused(null, error.status, caller.key);
    const send = (more: OutgoingHttpHeaders): void => sendError(response, error, { ...idHeaders, ...headers, ...more });
    if (isHostile) service.pace.refuseBody(request, response, send);
    else send({});
    return null;
  }
  const { asked, startedMs } = taken;
  return { asked, startedMs, arrivedMs, abort, place, idHeaders };
}

/** Answers a POST to one of the endpoints of models. */
export async function serveRequest(arrival: Arrival, service: RequestService): Promise<void> {
  const admitted = await takeArrival(arrival, service);
  if (admitted === null) return;
  const { caller, request, response } = arrival;
  const { onRefused, onDecision } = service;
  const { asked, arrivedMs, abort, idHeaders } = admitted;
  if (caller.limited === null) {
    await serveTaken(arrival, admitted, service);
    return;
  }
  const budget = await service.budgets.admit(caller.limited, asked, caller);
  setHeaders(response, budget.headers);
  if ("error" in budget) {
    onRefused(budget.served, budget.error.status, caller.key);
    service.traces?.begin(asked, { request, startedMs: arrivedMs }).refused(budget.error);
    return sendError(response, budget.error, idHeaders);
  }
  try {
    await serveTaken(arrival, admitted, {
      ...service,
      onDecision(served, decision) {
        budget.settle(decision);
        onDecision(served, decision);
      },
    });
  } finally {
    budget.end({ isAborted: abort.aborted });
  }
}

function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
}

interface AdmittedByKey extends Taken {
  /** On the clock of `performance.now()`. */
  readonly arrivedMs: number;
  readonly abort: RequestEnd;
  readonly place: BodyReservation;
  readonly idHeaders: Readonly<Record<"x-request-id" | "x-weir-decision-id", string>>;
}

/** Answers a request that its key admits. */
async function serveTaken(arrival: Arrival, taken: AdmittedByKey, service: RequestService): Promise<void> {
  const { caller, request, response } = arrival;
  const { arrivedMs, abort, place, idHeaders } = taken;
  const { serving, limits, traces, bodies, onRefused, onShed, onDecision } = service;
  const { signal } = abort;
  if (service.ensembles.takes(taken.asked)) {
    const requestId = idHeaders["x-request-id"];
    await service.ensembles.serve({ ...taken, caller, request, response, abort, place, idHeaders: { "x-request-id": requestId } });
    return boundReading(response, limits.clientStallSeconds);
  }
  const trace = traces?.begin(taken.asked, { request, startedMs: arrivedMs }) ?? null;
  const asked = trace?.asked ?? taken.asked;
  const characters = serving.config?.settings?.recordedPromptCharacters;
  const prompt = characters === undefined ? null : promptEnd(asked, characters);
  const asking = serving.predict(asked);
  const prediction = asking === null ? null : await asking;
  const journal = new RequestJournal({ asked, caller, startedMs: taken.startedMs, prompt });
  const admission = admit(asked, {
    serving,
    queuedPerModel: limits.queuedPerModel,
    // A call of an admitted ensemble or run is not a new request.
    draining: service.draining() && !caller.isPart,
    objective: caller.objective,
    prediction,
    client: caller,
  });
  if (admission.kind !== "admitted") {
    const { error } = admission;
    onRefused(admission.kind === "shed" ? admission.served.name : null, error.status, caller.key);
    if (admission.kind === "refused") {
      trace?.refused(error);
      return sendError(response, error, { ...idHeaders, ...admission.headers });
    }
    sendError(response, error, { ...idHeaders, ...retryAfter(admission.retryAfterSeconds) });
    journal.reason = error.message;
    journal.startStage = admission.stage;
    const decision = journal.decision(admission.served, error.status, serving.config);
    trace?.finished(decision, { timeScale: admission.served.timeScale, config: serving.config });
    return onShed(admission.served.name, decision);
  }
  const call = asked.endpoint.text === null ? null : serving.workflows.start(asked, caller.key);
  journal.call = call;
  const deadline = setTimeout(() => abort.abort("deadline" satisfies AbortKind), limits.requestSeconds * 1000);
  let finished: FinishedRun;
  try {
    // Written out: each request would pay for spreads, more than for its run.
    finished = await new RequestRun({
      asked,
      served: admission.served,
      start: admission.start,
      serving,
      prediction,
      call,
      journal,
      answer: new ClientAnswer({ asked, response, journal }),
      response,
      signal,
      limits,
      bodies,
      objective: caller.objective,
      client: caller,
      hosted: service.hosted,
      countsUsage: caller.limited?.limits !== undefined,
      isOwn: service.loopback.isOwn(request.headers),
    }).run();
  } catch (bug) {
    // Recorded like any other: a canary whose requests fail in the gateway itself must not look healthy.
    journal.reason = "The gateway failed.";
    const decision = journal.decision(admission.served, 500, serving.config);
    trace?.finished(decision, { timeScale: admission.served.timeScale, config: serving.config });
    if (call !== null) serving.workflows.ended(asked, call, decision.stages);
    onDecision(admission.served.name, decision);
    throw bug;
  } finally {
    clearTimeout(deadline);
  }
  trace?.finished(finished.decision, { timeScale: finished.served.timeScale, config: serving.config });
  if (call !== null) serving.workflows.ended(asked, call, finished.decision.stages);
  onDecision(finished.served.name, finished.decision);
  if (prediction !== null && finished.served.wanted?.learns && finished.decision.status === 200)
    serving.predictions.remember(prediction, {
      asked,
      decision: finished.decision,
      startedAtMs: Date.now() - (performance.now() - taken.startedMs),
    });
  showFinished(finished, { asked, caller, arrivedMs, response, serving });
  boundReading(response, limits.clientStallSeconds);
}

/** Disconnects a client that stops reading its answer. */
export function boundReading(response: ServerResponse, stallSeconds: number): void {
  const { socket } = response;
  if (socket === null || response.writableFinished) return;
  const before = socket.timeout ?? 0;
  const stallMs = stallSeconds * 1000;
  // The timeout restarts whenever the client reads something.
  socket.setTimeout(stallMs);
  response.once("finish", () => {
    if (socket.timeout === stallMs) socket.setTimeout(before);
  });
}

interface Shown {
  readonly asked: ModelRequest;
  readonly caller: Caller;
  /** On the clock of `performance.now()`. */
  readonly arrivedMs: number;
  readonly response: ServerResponse;
  readonly serving: Serving;
}

/** Shows a finished request to the shadow at once, and to mirror and capture after its answer was sent. */
function showFinished({ served, decision }: FinishedRun, { asked, caller, arrivedMs, response, serving }: Shown): void {
  const cascade = served.kind === "cascade";
  serving.shadow?.finished(decision, { cascade });
  const mirrored = cascade && serving.mirror !== null;
  const captured = decision.status === 200 && serving.capture !== null && !caller.isPart;
  if (!mirrored && !captured) return;
  const { key, objective } = caller;
  const atMs = Date.now() - (performance.now() - arrivedMs);
  const offer = (): void => {
    if (mirrored) serving.mirror?.offer({ asked, served, decision });
    if (captured) serving.capture?.offer({ asked, key, objective, atMs });
  };
  if (response.writableFinished) offer();
  else response.once("finish", offer);
}

interface Taken {
  readonly asked: ModelRequest;
  /** Time at which the body was complete: the client's sending time does not count. */
  readonly startedMs: number;
}

interface Taking {
  readonly ids: RequestIds;
  readonly abort: RequestEnd;
  readonly place: BodyReservation;
  readonly service: RequestService;
}

/** Reads and validates the body, within the caller's rate and the memory budget. */
function takeIn(arrival: Arrival, taking: Taking): Taken | Refusal | "gone" | Promise<Taken | Refusal | "gone"> {
  const waitSeconds = arrival.caller.takeTurn();
  return waitSeconds instanceof Promise
    ? waitSeconds.then((later) => takenAfter(later, arrival, taking))
    : takenAfter(waitSeconds, arrival, taking);
}

function takenAfter(waitSeconds: number, arrival: Arrival, taking: Taking): ReturnType<typeof takeIn> {
  const { caller, request, response } = arrival;
  const { limits } = taking.service;
  if (caller.rate !== null && !caller.isPart) setHeaders(response, requestRateHeaders(caller.rate, performance.now()));
  if (waitSeconds > 0) {
    const message = `The key ${caller.key} has used its requests for this minute.`;
    const headers = retryAfter(Math.ceil(waitSeconds));
    return { error: { status: 429, message, type: "rate_limit_error", code: "rate_limit_exceeded" }, headers };
  }
  const { bodyBytes, bodyJson, arrivalSeconds } = limits;
  const { abort, place } = taking;
  const taken = takeJson(request, { mostBytes: bodyBytes, json: bodyJson, arrivalSeconds, abort, place });
  return taken instanceof Promise ? taken.then((later) => validated(later, arrival, taking)) : validated(taken, arrival, taking);
}

function validated(
  taken: TakenJson | Refusal | "gone",
  { endpoint, caller, request, response }: Arrival,
  { ids, place, service: { serving } }: Taking,
): Taken | Refusal | "gone" {
  if (taken === "gone" || response.destroyed) return "gone";
  if ("error" in taken) return taken;
  const parsed = modelRequestOf(taken, {
    ids,
    endpoint,
    headers: request.headers,
    key: caller.key,
    passAuthorization: !serving.callers.needed,
    grow: (bytes) => place.grow(bytes),
  });
  if (parsed.ok) return { asked: parsed.asked, startedMs: taken.completeMs };
  return { error: parsed.error, ...(parsed.error.status === 503 && { headers: retryAfter(1) }) };
}
