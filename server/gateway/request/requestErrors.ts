import type { FailureKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { RefusalCause } from "@/solver/policies/core/policy";
import type { ApiError } from "../http/apiError";
import { modelsBehind, type ServedModel } from "../serving/servedModel";
import type { Serving } from "../serving/serving";

/** The error of a request for which there is no engine. */
export const noEndpoint = (message: string): ApiError => ({ status: 503, message, type: "server_error", code: "no_endpoint" });

/** The error of a request that a policy refuses. @param failure why the last stage that was tried failed; undefined if none was. */
export function policyRefusal(cause: RefusalCause, reason: string, failure: ApiError | undefined): ApiError {
  if (cause === "no-configuration") return { status: 503, message: reason, type: "server_error", code: "no_configuration" };
  return noEndpoint([reason, failure?.message].filter((part) => part !== undefined).join(" "));
}

/** The error of a stage that used up its attempts. A full engine is not broken: the client may retry as soon as it has room. */
export function stageError(failure: FailureKind, message: string): ApiError {
  return failure === "status-429"
    ? { status: 429, message, type: "rate_limit_error", code: "engine_full" }
    : { status: 502, message, type: "server_error", code: "engine_failed" };
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
