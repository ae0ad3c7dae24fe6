import type { OutgoingHttpHeaders } from "node:http";
import type { RefusalCause } from "@/solver/policies/core/policy";
import type { FailedOutcome, WholeReply } from "../engines/stageOutcome";
import { type ApiError, noRetry, retryAfter } from "../http/apiError";
import { modelsBehind, type ServedModel } from "../serving/servedModel";
import type { Serving } from "../serving/serving";

/** The error of a request for which there is no engine. */
export const noEndpoint = (message: string): ApiError => ({ status: 503, message, type: "server_error", code: "no_endpoint" });

/** The error of a request that a policy refuses. @param failure why the last stage that was tried failed; undefined if none was. */
export function policyRefusal(cause: RefusalCause, reason: string, failure: ApiError | undefined): ApiError {
  if (cause === "no-configuration") return { status: 503, message: reason, type: "server_error", code: "no_configuration" };
  return noEndpoint([reason, failure?.message].filter((part) => part !== undefined).join(" "));
}

/** Why no engine of a stage answered, as the client is told. */
export interface StageFailure {
  readonly error: ApiError;
  readonly headers: OutgoingHttpHeaders;
  /** The engine's own error, passed on instead if it has a body. */
  readonly reply?: WholeReply | undefined;
}

/** Whether an engine takes no request now, and says when it may: all that are full, and those with a `retry-after`. */
export function asksToWait({ busy }: Pick<FailedOutcome, "busy">): boolean {
  if (busy === undefined) return false;
  return busy.status === 429 || busy.retry?.["retry-after"] !== undefined || busy.retry?.["retry-after-ms"] !== undefined;
}

interface LastAttempt {
  readonly message: string;
  /** The gateway has made all the attempts that it may. A client that repeats the request would multiply them. */
  readonly isUsedUp: boolean;
  /** Wall seconds until a full engine may have room, if it does not say itself. */
  readonly waitSeconds: number;
}

/** The failure of a stage after its last attempt. */
export function stageFailure(failed: Omit<FailedOutcome, "kind">, { message, isUsedUp, waitSeconds }: LastAttempt): StageFailure {
  const { reply, busy } = failed;
  const says = busy?.retry ?? {};
  const guess = asksToWait(failed) && says["retry-after"] === undefined ? retryAfter(waitSeconds) : {};
  return {
    error: stageError(message, busy?.status),
    headers: { ...guess, ...says, ...(isUsedUp && reply === undefined && noRetry) },
    reply: reply ?? busy,
  };
}

/** @param busyStatus of an engine that takes no request now; undefined if it failed otherwise. */
function stageError(message: string, busyStatus: number | undefined): ApiError {
  if (busyStatus === 429) return { status: 429, message, type: "rate_limit_error", code: "engine_full" };
  if (busyStatus !== undefined) return { status: 503, message, type: "server_error", code: "engine_unavailable" };
  return { status: 502, message, type: "server_error", code: "engine_failed" };
}

interface Joining {
  readonly serving: Serving;
  readonly served: ServedModel;
  readonly queuedPerModel: number;
  /** Class of the work; null if it has none. */
  readonly objective: string | null;
}

/** Why a request that may join the queues of these models is refused, and when to retry; null if each queue has room. */
export function fullQueue(
  models: readonly string[],
  { serving, served, queuedPerModel, objective }: Joining,
): { readonly error: ApiError; readonly retryAfterSeconds: number } | null {
  const room = Math.ceil(serving.queueFraction(objective) * queuedPerModel);
  const full = models.map((model) => served.driver.lineOf(model)).find((line) => (serving.queued.get(line) ?? 0) >= room);
  if (full === undefined) return null;
  const message =
    room === queuedPerModel
      ? `${room} requests wait for ${full}, the gateway's limit.`
      : `${serving.queued.get(full)} requests wait for ${full}; a request of the class ${objective} is admitted only while fewer than ${room} wait.`;
  return {
    error: { status: 429, message, type: "rate_limit_error", code: "queue_full" },
    retryAfterSeconds: serving.estimateQueueWaitSeconds(full, modelsBehind(served, full)),
  };
}
