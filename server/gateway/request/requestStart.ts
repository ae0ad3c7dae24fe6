import type { Start, StartingRequest } from "@/solver/policies/core/policy";
import type { ModelRequest } from "../http/modelRequest";
import { type PolicyPrediction, type Prediction, predictionFor } from "../prediction/requestPredictions";
import type { ServedModel } from "../serving/servedModel";
import type { LeavingClient, Serving } from "../serving/serving";

/** The stage at which the policy starts a request, and the policy's input. */
export interface RequestStart {
  readonly start: Start;
  readonly request: StartingRequest;
  /** The predictions that the policy read; null: none. */
  readonly policyPrediction: PolicyPrediction | null;
}

/** Asks the policy of `served` for the stage at which it starts a request. */
export function requestStart(
  asked: ModelRequest,
  served: ServedModel,
  { serving, prediction, client }: { readonly serving: Serving; readonly prediction: Prediction | null; readonly client: LeavingClient },
): RequestStart {
  const policyPrediction = predictionFor(prediction, served.wanted);
  const request = serving.starting(served, asked, { policyPrediction, client });
  return { start: served.driver.policy.start(request), request, policyPrediction };
}
