import type { ApiError } from "./apiError";
import { shownName } from "./clientNames";
import type { BodyRefusal, Endpoint } from "./endpoint";
import { type Foreseen, foreseenFor } from "./foresight";
import { fullQueue } from "./fullQueue";
import type { ModelRequest } from "./modelRequest";
import { modelsBehind, type ServedModel } from "./servedModel";
import type { Serving } from "./serving";

export type Admission =
  | { readonly kind: "admitted"; readonly served: ServedModel }
  /** A request for a served model that there is no room or no engine for now. */
  | { readonly kind: "shed"; readonly served: ServedModel; readonly error: ApiError; readonly retryAfterSeconds: number }
  | { readonly kind: "refused"; readonly error: ApiError };

/** The error for a name that nothing is served under. */
export function unservedModel(name: string): ApiError {
  const message = `The model ${JSON.stringify(shownName(name))} is not served here; GET /v1/models lists what is.`;
  return { status: 404, message, type: "not_found_error", param: "model", code: "model_not_found" };
}

interface Door {
  readonly serving: Serving;
  readonly queuedPerModel: number;
  readonly draining: boolean;
  /** Class of the work; null where it has none. */
  readonly objective: string | null;
  readonly foreseen: Foreseen | null;
}

/** Whether a request is taken in. What has been taken in is dropped for want of room only where a stage that cannot answer it makes it join another queue. */
export function admit(asked: ModelRequest, { serving, queuedPerModel, draining, objective, foreseen }: Door): Admission {
  if (serving.config === null) {
    const message = "No configuration is in force yet; apply a plan first.";
    return { kind: "refused", error: { status: 503, message, type: "server_error", code: "no_config" } };
  }
  const served = serving.serverOf(asked);
  if (served === undefined) return { kind: "refused", error: unservedModel(asked.model) };
  // One stage would answer all, several judge one: refused under every plan, so that a plan with another cascade breaks no client.
  const refusal = served.kind === "cascade" ? cascadeRefusal(asked.endpoint, asked.body) : null;
  if (refusal !== null)
    return { kind: "refused", error: { status: 400, ...refusal, type: "invalid_request_error", code: "unsupported_value" } };
  const shed = (retryAfterSeconds: number, error: ApiError): Admission => ({ kind: "shed", served, error, retryAfterSeconds });
  if (draining) return shed(1, { status: 503, message: "The gateway is shutting down.", type: "server_error", code: "shutting_down" });
  const { stage } = served.driver.policy.start(serving.starting(served, asked, foreseenFor(foreseen, served.wanted)));
  const first = served.models[stage] ?? "";
  const behind = modelsBehind(served, first);
  const { pool } = serving;
  // Where a stage that may answer has engines the policy starts there.
  if (behind.every((model) => pool.isLost(model))) {
    const message = `No engine of ${behind.join(" or ")} takes work at the moment.`;
    return shed(serving.recoverySeconds(behind), { status: 503, message, type: "server_error", code: "no_endpoint" });
  }
  // An answer that nobody judges is the last: the request joins no other queue. Nor does it join one of a stage that is lost.
  const visited = served.driver.policy.judges(stage) ? served.models.filter((model) => !pool.isLost(model)) : [first];
  const full = fullQueue(visited, { serving, served, queuedPerModel, objective });
  return full === null ? { kind: "admitted", served } : shed(full.retryAfterSeconds, full.error);
}

function cascadeRefusal({ path, text }: Endpoint, body: ModelRequest["body"]): BodyRefusal | null {
  if (text !== null) return text.cascadeRefusal(body);
  const message = `${shownName(String(body.model))} is a cascade, and ${path} is answered by engines only: name a model that is no cascade.`;
  return { message, param: "model" };
}
