import type { OutgoingHttpHeaders } from "node:http";
import { type ApiError, drainingRetrySeconds, retryAfter, shuttingDown, startingRetrySeconds } from "../http/apiError";
import { shownName } from "../http/clientNames";
import type { BodyRefusal, Endpoint } from "../http/endpoint";
import type { ModelRequest } from "../http/modelRequest";
import type { Prediction } from "../prediction/requestPredictions";
import { isCallStage, type ServedModel } from "../serving/servedModel";
import type { LeavingClient, Serving } from "../serving/serving";
import { fullQueue, noEndpoint } from "./requestErrors";
import { type RequestStart, requestStart } from "./requestStart";

export type Admission =
  | { readonly kind: "admitted"; readonly served: ServedModel; readonly start: RequestStart }
  /** A request for a served model whose queue is full or that has no engine now. */
  | {
      readonly kind: "shed";
      readonly served: ServedModel;
      readonly stage: number | null;
      readonly error: ApiError;
      readonly retryAfterSeconds: number;
    }
  /** `headers`: whether and when its client should send it again. */
  | { readonly kind: "refused"; readonly error: ApiError; readonly headers?: OutgoingHttpHeaders };

/** The error for a name that nothing is served under. */
export function unservedModel(name: string): ApiError {
  const message = `The model ${JSON.stringify(shownName(name))} is not served here; GET /v1/models lists what is.`;
  return { status: 404, message, type: "not_found_error", param: "model", code: "model_not_found" };
}

/** The error for a request that only hosted models could answer, and that may not leave the house. */
const dataStays = (name: string): ApiError => ({
  status: 403,
  message: `Only hosted models could answer ${JSON.stringify(shownName(name))}, and requests of this client for it do not leave the house: the settings' dataMayLeave does not allow it.`,
  type: "permission_error",
  code: "data_stays",
});

interface Door {
  readonly serving: Serving;
  readonly queuedPerModel: number;
  readonly draining: boolean;
  /** Class of the work; null if it has none. */
  readonly objective: string | null;
  readonly prediction: Prediction | null;
  readonly client: LeavingClient;
}

/** Admits, sheds or refuses a request. An admitted request is shed later only if it must join another queue because its stage cannot answer. */
export function admit(asked: ModelRequest, { serving, queuedPerModel, draining, objective, prediction, client }: Door): Admission {
  if (serving.config === null) {
    const message = "No configuration is in force yet; apply a plan first.";
    return {
      kind: "refused",
      error: { status: 503, message, type: "server_error", code: "no_config" },
      headers: retryAfter(startingRetrySeconds),
    };
  }
  const served = serving.serverOf(asked);
  if (served === undefined) return { kind: "refused", error: unservedModel(asked.model) };
  // One stage could answer all, several judge one: refused under every plan, so that a plan with another cascade breaks no client.
  const refusal = served.kind === "cascade" ? cascadeRefusal(asked.endpoint, asked.body) : null;
  if (refusal !== null)
    return { kind: "refused", error: { status: 400, ...refusal, type: "invalid_request_error", code: "unsupported_value" } };
  const shed = (retryAfterSeconds: number, error: ApiError, stage: number | null): Admission => ({
    kind: "shed",
    served,
    stage,
    error,
    retryAfterSeconds,
  });
  if (draining) return shed(drainingRetrySeconds, shuttingDown, null);
  const start = requestStart(asked, served, { serving, prediction, client });
  const { stage } = start.start;
  const { barredStages = [] } = start.request;
  if (barredStages.includes(stage)) return { kind: "refused", error: dataStays(asked.model) };
  const first = served.driver.policy.modelOfStage(stage);
  const behind = isCallStage(served, stage) ? served.models : [first];
  const { pool } = serving;
  // If a stage that may answer has engines, the policy starts there.
  if (behind.every((model) => pool.isLost(model))) {
    const message = `No engine of ${behind.join(" or ")} takes work at the moment.`;
    return shed(serving.recoverySeconds(behind), noEndpoint(message), stage);
  }
  // An answer that is not judged is the last, so the request joins no other queue. It never joins the queue of a lost stage, and need not join that of a hosted one.
  const visited = served.driver.policy.judges(stage)
    ? served.singles.filter((model) => model === first || !(pool.isLost(model) || pool.isHosted(model)))
    : [first];
  const full = fullQueue(visited, { serving, served, queuedPerModel, objective });
  return full === null ? { kind: "admitted", served, start } : shed(full.retryAfterSeconds, full.error, stage);
}

function cascadeRefusal({ path, text }: Endpoint, body: ModelRequest["body"]): BodyRefusal | null {
  if (text !== null) return text.cascadeRefusal(body);
  const message = `${shownName(String(body.model))} is a cascade, which ${path} does not serve: name a model instead.`;
  return { message, param: "model" };
}
