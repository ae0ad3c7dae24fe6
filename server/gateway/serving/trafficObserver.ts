import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { StartingRequest } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { ModelRequest } from "../http/modelRequest";
import type { Wanted } from "../prediction/prediction";
import type { Prediction } from "../prediction/requestPredictions";
import type { ServedModel } from "./servedModel";
import type { PolicyWatcher } from "./watchedPolicy";

/** A request of the cascade whose answer was sent. */
export interface AnsweredRequest {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly decision: Pick<Decision, "status" | "stages">;
}

/** Sees the cascade's requests once they are answered; the mirror is one. */
export interface TrafficObserver {
  /** Returns at once and never throws. */
  offer(answered: AnsweredRequest): void;
}

/** A client's statements about its request. */
export type StatedRequest = Pick<ModelRequest, "decisionId" | "mostTokens" | "programTokens" | "routerScores">;

/** The start of a request under the policy in force. */
export interface StartedRequest {
  /** As the policy in force saw it. */
  readonly request: StartingRequest;
  /** The model at which that policy started it. */
  readonly model: string;
  readonly prediction: Prediction | null;
  /** The forecast of its agent at a model, from the workflow tracker. */
  readonly forecast: (model: string) => AgentForecast | undefined;
}

/** Follows the policy's decisions from start to finish; the shadow is one. */
export interface DecisionObserver extends PolicyWatcher {
  /** The predictions that it reads; null: none. */
  readonly wanted: Wanted | null;
  start(asked: StatedRequest, started: StartedRequest): void;
  finished(decision: Pick<Decision, "id" | "status" | "stages">, options: { readonly cascade: boolean }): void;
}
