import type { ApiError } from "./apiError";
import { modelsBehind, type ServedModel } from "./servedModel";
import type { Serving } from "./serving";

interface Joining {
  readonly serving: Serving;
  readonly served: ServedModel;
  readonly queuedPerModel: number;
  /** Class of the work; null where it has none. */
  readonly objective: string | null;
}

/** Why a request that may join the queues of these models is refused, and when to retry; null where each queue has room. */
export function fullQueue(
  models: readonly string[],
  { serving, served, queuedPerModel, objective }: Joining,
): { readonly error: ApiError; readonly retryAfterSeconds: number } | null {
  const room = Math.ceil(serving.queueShare(objective) * queuedPerModel);
  const full = models.map((model) => served.driver.lineOf(model)).find((line) => (serving.queued.get(line) ?? 0) >= room);
  if (full === undefined) return null;
  const message =
    room === queuedPerModel
      ? `${room} requests wait for ${full}, which is all the gateway holds.`
      : `${serving.queued.get(full)} requests wait for ${full}; one of the class ${objective} is taken in below ${room} only.`;
  return {
    error: { status: 429, message, type: "rate_limit_error", code: "queue_full" },
    retryAfterSeconds: serving.drainSeconds(full, modelsBehind(served, full)),
  };
}
