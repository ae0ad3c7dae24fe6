import type { ServerResponse } from "node:http";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { RequestEnd } from "@/server/lib/requestEnd";
import { isRecord } from "@/solver/collections/isRecord";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import type { Evidence } from "@/solver/policies/core/policy";
import type { HostedAccounts, HostedCall, HostedRefusal } from "../budgets/hostedAccounts";
import { callEngine, type EngineCall, type EngineReply, isBrokenOrFull } from "../engines/engineCall";
import { type RelayOutcome, relayStream } from "../engines/relayStream";
import type { Replica } from "../engines/replica";
import { refusalOf, refusesKey, type StageOutcome, stageOutcome } from "../engines/stageOutcome";
import type { AnswerGate } from "../gates/answerGate";
import type { OtherAnswers } from "../gates/otherAnswers";
import { takenTokens } from "../gates/takenTokens";
import type { BodyMemoryBudget } from "../http/bodyMemoryBudget";
import type { AnswerTokens } from "../http/endpoint";
import { engineBody } from "../http/engineBody";
import type { GatewayLimits } from "../http/limits";
import type { ModelRequest } from "../http/modelRequest";
import type { Grant } from "../queue/waitingEntry";
import { isCallStage, type ServedModel } from "../serving/servedModel";
import type { LeavingClient, Serving } from "../serving/serving";
import type { ClientAnswer } from "./clientAnswer";
import type { RequestJournal } from "./requestJournal";
import type { Attempt } from "./stageRecords";

export interface StageCallOptions {
  readonly asked: ModelRequest;
  readonly serving: Serving;
  readonly journal: RequestJournal;
  readonly answer: ClientAnswer;
  readonly response: ServerResponse;
  /** Fires with an `AbortKind` as its reason. */
  readonly signal: RequestEnd;
  readonly limits: GatewayLimits;
  /** The memory that further answers share with request bodies. */
  readonly bodies: BodyMemoryBudget;
  /** Whether streams must report their tokens, as a limit of the client's key counts them. */
  readonly countsUsage: boolean;
  /** Whose request it is. */
  readonly client: LeavingClient;
  readonly hosted: HostedAccounts;
}

interface Stage {
  readonly served: ServedModel;
  /** Failed engine calls of this stage so far. */
  readonly failures: number;
  /** What the policy reads of the request besides the answer; undefined if it reads nothing. */
  readonly evidence: Evidence | undefined;
  readonly queueMs: number;
}

/** An engine's reply, and what the stage's gate reads besides. */
export interface StageReply {
  readonly outcome: StageOutcome;
  readonly attempt: Attempt;
  /** Null where they were not reported, or not asked for. */
  readonly tokens: AnswerTokens | null;
  /** Null where the gate compares with none. */
  readonly others: OtherAnswers | null;
}

/**
 * Calls the engine that the policy chose, releases its slot and reads the reply. The further answers that the stage's gate needs are asked
 * for at the same time. Never rejects because of the engine.
 * @returns `waits` if nothing was sent, since a limit of a hosted engine has room later.
 */
export async function callStage(
  grant: Extract<Grant, { kind: "granted" }>,
  { served, failures, evidence, queueMs }: Stage,
  options: StageCallOptions,
): Promise<StageReply | "waits"> {
  const { asked, serving, journal, signal, limits, bodies } = options;
  const { driver } = served;
  const { replica, stage, queuedSeconds, dispatchedSeconds } = grant;
  const { model } = replica;
  const { priority, value } = replica.priority.priorityFor(asked.priority ?? grant.priority);
  const engine = engineRecord(grant, served);
  if (priority !== null) engine.priority = priority;
  const startedMs = performance.now();
  const hostedCall = replica.hosted === null ? null : await hostedCallOf(replica, replica.hosted.terms, options);
  if (hostedCall !== null && hostedCall.kind !== "admitted") {
    const answered = driver.release(asked.decisionId, replica, { failed: true });
    replica.hosted?.unused();
    if (hostedCall.kind === "wait") return "waits";
    const at = { queued: queuedSeconds, dispatched: dispatchedSeconds, answered };
    const attempt = { replica, stage, model, engine, queueMs, engineMs: performance.now() - startedMs, at };
    return { outcome: unaffordable(hostedCall), attempt, tokens: null, others: null };
  }
  // An answer that is not judged needs no evidence, and its stream would show log probabilities to the client.
  const gate = driver.policy.judges(stage, evidence) ? served.gates.get(stage) : undefined;
  const others = gate?.begin({ asked, signal: signal.abortSignal, answerBytes: limits.answerBytes, bodies }) ?? null;
  const { text } = asked.endpoint;
  const isAsked = gate?.readsTokens === true && replica.addedFields.areTaken(startedMs);
  const fields = isAsked && text !== null ? text.tokenFields(asked.body) : null;
  // Its client may have gone while the reservation was stored.
  if (hostedCall !== null && signal.aborted) hostedCall.settle(unsent);
  const bound = hostedCall === null ? undefined : boundFields(asked.body, hostedCall.mostOutputTokens);
  const added = fields === null ? bound : { ...bound, ...fields };
  let relayed = await ask(replica, { served, stage, evidence, startedMs, priority: value, added }, options);
  // The client did not ask for log probabilities, and must not be refused because of them.
  if (fields !== null && refusesFields(relayed)) {
    relayed = await ask(replica, { served, stage, evidence, startedMs, priority: value, added: bound }, options);
    if (!refusesFields(relayed)) replica.addedFields.refused(performance.now());
  }
  const ownWords = replica.hosted === null ? relayed : withoutAccount(relayed, model);
  const reply = failedIfRetriable(stageOutcome(ownWords, asked.endpoint), { replica, served, stage, failures }, options);
  const { outcome, tokens } = tokensApart(reply, { gate, fields, text });
  hostedCall?.settle(outcome);
  if (outcome.kind !== "answered") others?.cancel();
  const unusedCalls = outcome.kind === "answered" ? undefined : others?.unused;
  const engineMs = performance.now() - startedMs;
  journal.engineMs += engineMs;
  // What a provider refuses of one request says nothing of the next.
  const isRefused = replica.hosted !== null && outcome.kind === "failed" && outcome.failure === "refused" && outcome.reply !== undefined;
  const failed = (outcome.kind === "failed" && !isRefused) || outcome.kind === "broken";
  if (!signal.aborted) {
    if (replica.hosted !== null && outcome.kind === "failed" && outcome.busy !== undefined) replica.hosted.pausedBy(outcome.busy);
    else if (failed) replica.failed();
    else replica.succeeded();
  }
  // The refusal may be about the request, or about a priority that a restarted engine no longer takes.
  if (outcome.kind === "refused" && value !== null) replica.priority.forget();
  if (!failed) serving.answered(model);
  const firstTokenMs = "firstTokenMs" in outcome ? outcome.firstTokenMs : undefined;
  // A refusal is not an answer, nor is a reply after an abort.
  const unanswered = outcome.kind !== "answered" && outcome.kind !== "streamed";
  const answeredSeconds = driver.release(asked.decisionId, replica, { failed: unanswered, firstTokenMs });
  const at = { queued: queuedSeconds, dispatched: dispatchedSeconds, answered: answeredSeconds };
  return {
    outcome,
    attempt: { replica, stage, model, engine, queueMs, engineMs, at, unusedCalls },
    tokens,
    others,
  };
}

/** Reserves what a call of a hosted engine may use. */
async function hostedCallOf(
  replica: Replica,
  terms: HostedEngine,
  { asked, serving, client, hosted }: StageCallOptions,
): Promise<HostedCall | HostedRefusal> {
  // The settings may have changed since the policy sent it there.
  if (!serving.mayLeave(asked, client)) return { kind: "closed", failure: "refused", reason: leavesNoMore };
  return hosted.admit(replica, terms, asked);
}

const unsent: StageOutcome = { kind: "failed", failure: "other", reason: "its client has gone", isUnsent: true };

const leavesNoMore = "the settings do not let its data leave the house any more";

/** A provider that is busy names the account of the operator in its sentence, which is no business of a client's. */
function withoutAccount(relayed: RelayOutcome, model: string): RelayOutcome {
  if (relayed.kind !== "not-begun" || relayed.reply.kind !== "answered" || !isBrokenOrFull(relayed.reply.status)) return relayed;
  const error = {
    message: `The provider of ${model} takes no request now.`,
    type: "server_error",
    param: null,
    code: "engine_unavailable",
  };
  return { ...relayed, reply: { ...relayed.reply, contentType: "application/json", body: Buffer.from(JSON.stringify({ error })) } };
}

const unaffordable = ({ failure, reason }: Extract<HostedRefusal, { kind: "closed" }>): StageOutcome => ({
  kind: "failed",
  failure,
  reason,
  isUnsent: true,
});

/** The bound in every field by which the client bounds the answer, or else in the present one of OpenAI's API. */
function boundFields({ max_tokens: legacy, max_completion_tokens: present }: ModelRequest["body"], most: number): Record<string, number> {
  const hasLegacy = typeof legacy === "number";
  return { ...(hasLegacy && { max_tokens: most }), ...((!hasLegacy || typeof present === "number") && { max_completion_tokens: most }) };
}

/** Statuses by which an engine refuses fields that it does not take. */
const fieldRefusals: readonly number[] = [400, 422, 501];

const refusesFields = (relayed: RelayOutcome): boolean =>
  relayed.kind === "not-begun" && relayed.reply.kind === "answered" && fieldRefusals.includes(relayed.reply.status);

interface Reading {
  readonly gate: AnswerGate | undefined;
  /** What the gateway added to the client's body; null: nothing. */
  readonly fields: object | null;
  readonly text: ModelRequest["endpoint"]["text"];
}

/** The tokens that the gate reads, and the answer without what its client did not ask for. */
function tokensApart(outcome: StageOutcome, { gate, fields, text }: Reading): Pick<StageReply, "outcome" | "tokens"> {
  if (outcome.kind !== "answered" || text === null || !gate?.readsTokens) return { outcome, tokens: null };
  if (fields === null) return { outcome, tokens: text.tokens(outcome.completion) };
  try {
    const { answered, tokens } = takenTokens(outcome, text);
    return { outcome: answered, tokens };
  } catch {
    // JSON that can be parsed and not written: the slot of its engine must be released all the same.
    return { outcome: { kind: "failed", failure: "no-answer", reason: "the engine's answer is nested too deeply" }, tokens: null };
  }
}

/** The state of the engine at dispatch, for the decision record. */
function engineRecord({ replica, degraded }: Extract<Grant, { kind: "granted" }>, { driver: { policy } }: ServedModel): Attempt["engine"] {
  const { inFlight, maxInFlight, kvUse } = replica;
  const engine: Attempt["engine"] = { inFlight, maxInFlight };
  if (policy.needs.includes("kv-telemetry")) engine.kvUse = kvUse;
  if (policy.memory !== undefined) {
    engine.kvCapacity = replica.kv.capacity;
    engine.preemptions = replica.preemptions;
  }
  if (degraded !== null) engine.degraded = degraded;
  return engine;
}

interface Call {
  readonly served: ServedModel;
  readonly stage: number;
  readonly evidence: Evidence | undefined;
  readonly startedMs: number;
  /** In the engine's own scale; null: none. */
  readonly priority: number | null;
  /** Fields in addition to the client's. */
  readonly added: Readonly<Record<string, unknown>> | undefined;
}

/** Requests a whole answer from the engine, or a stream that is relayed to the client as it arrives. */
function ask(replica: Replica, call: Call, options: StageCallOptions): Promise<RelayOutcome> {
  const { asked, serving } = options;
  const countsUsage = options.countsUsage || replica.hosted !== null;
  const live = streamsLive(asked, call, serving.config?.settings?.streaming);
  const asksUsage = live && countsUsage && !asked.includeUsage && replica.usageField.areTaken(performance.now());
  return asksUsage ? askWithUsage(replica, call, options) : askFor(replica, call, { live, hidesUsage: false }, options);
}

/** Asks for a stream that reports its tokens, and again without if the engine does not know the field, which the client did not send. */
async function askWithUsage(replica: Replica, call: Call, options: StageCallOptions): Promise<RelayOutcome> {
  const { usageField } = replica;
  const { stream_options: given } = options.asked.body;
  const added = { ...call.added, stream_options: { ...(isRecord(given) && given), include_usage: true } };
  const relayed = await askFor(replica, { ...call, added }, { live: true, hidesUsage: true }, options);
  if (relayed.kind !== "not-begun") usageField.answered();
  if (!refusesFields(relayed) || usageField.areKnown) return relayed;
  const without = await askFor(replica, call, { live: true, hidesUsage: false }, options);
  if (!refusesFields(without)) usageField.refused(performance.now());
  return without;
}

interface StreamForm {
  readonly live: boolean;
  readonly hidesUsage: boolean;
}

function askFor(
  replica: Replica,
  { served, stage, startedMs, priority, added }: Call,
  { live, hidesUsage }: StreamForm,
  { asked, answer, response, signal, limits }: StageCallOptions,
): Promise<RelayOutcome> {
  const call: EngineCall = {
    pool: replica.hosted?.pool ?? replica.pool,
    path: replica.basePath + asked.endpoint.enginePath,
    // Nothing of the client's headers leaves the house: its key, its session and its trace are no business of a provider's.
    headers: replica.hosted === null ? asked.upstreamHeaders : {},
    body: engineBody(asked, replica.servedName, { stream: live, priority, added }),
    signal,
    mostBytes: limits.answerBytes,
    watch: replica.stallDetector,
  };
  if (!live) return callEngine(call).then(whole);
  const headers = () => answer.headers({ served, stage, model: replica.model }, { pendingMs: performance.now() - startedMs });
  return relayStream({ call, response, headers, hidesUsage, limits });
}

const whole = (reply: EngineReply): RelayOutcome => ({ kind: "not-begun", reply });

/**
 * Whether the answer of a stage is streamed to the client as it is written: only an answer that is not judged, and always if none is.
 * @param given the setting; undefined if there is none.
 */
function streamsLive(
  asked: ModelRequest,
  { served, stage, evidence }: Pick<Call, "served" | "stage" | "evidence">,
  given: GatewaySettings["streaming"] = "buffer",
): boolean {
  const { judges } = served.driver.policy;
  if (!asked.stream || judges(stage, evidence)) return false;
  const mayBeJudged = !isCallStage(served, stage) && served.singles.some((_, own) => judges(own));
  return (asked.streaming ?? given) === "last" || !mayBeJudged;
}

interface Tried {
  readonly replica: Replica;
  readonly served: ServedModel;
  readonly stage: number;
  readonly failures: number;
}

/** Treats a refusal that another engine may not repeat as a failure, while another engine or stage can be called. */
function failedIfRetriable(
  outcome: StageOutcome,
  { replica, served, stage, failures }: Tried,
  { serving, limits }: Pick<StageCallOptions, "serving" | "limits">,
): StageOutcome {
  if (outcome.kind !== "refused") return outcome;
  const isLast = !hasOtherStages(served, stage);
  // What a provider refuses, such as a field that it does not know, a model of the house may take.
  if (replica.hosted !== null && !isLast && !refusesKey(outcome))
    return { kind: "failed", failure: "refused", reason: refusalOf(outcome), reply: outcome.reply };
  if (!outcome.elsewhere) return outcome;
  // The engine refuses the gateway's own key; if this were passed on, a client would think that its own key is refused.
  if (replica.keyed && refusesKey(outcome))
    return { kind: "failed", failure: "refused", reason: `${refusalOf(outcome)}: it refuses the API key that the gateway has for it` };
  const failed = { kind: "failed", failure: "refused", reason: refusalOf(outcome) } as const;
  if (failures + 1 < limits.attemptsPerStage && serving.pool.hasOther(replica)) return failed;
  return isLast ? outcome : { ...failed, reply: outcome.reply };
}

/** Whether another stage may be asked if one fails; calls whose model is chosen when engines have room have no order of stages. */
export const hasOtherStages = (served: ServedModel, stage: number): boolean => served.singles.length > 1 && !isCallStage(served, stage);
