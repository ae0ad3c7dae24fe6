import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { countOf } from "@/solver/workflow/configurationSet";
import { callOf, type ModelRequest } from "../http/modelRequest";
import type { PolicyPrediction } from "../prediction/requestPredictions";
import type { ServedModel } from "../serving/servedModel";
import type { FollowedCall } from "../workflows/followedCall";

/** Numbers of 32 bits, the lowest byte of each first. */
export function base64Of(numbers: Uint32Array): string {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, 4 * at);
  return bytes.toString("base64");
}

interface Chosen {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly call: FollowedCall | null;
  readonly search: PolicyPrediction["search"];
}

/** Notes the inputs of a just-in-time policy. */
export function noteChoice(decision: Omit<Decision, "sequence">, { asked, served, call, search }: Chosen): void {
  if (call !== null) decision.programStart = call.programStartSeconds;
  const place = callOf(asked);
  if (place === undefined) return;
  decision.call = place;
  const of = served.configurations.get(place.workflow);
  const { accurate, margins } = search ?? {};
  if (accurate === undefined || of === undefined) return;
  decision.configurations = { accurate: countOf(accurate), of, set: [...accurate] };
  if (margins !== undefined && served.driver.policy.scoresCallsFrom !== undefined)
    decision.configurations.margins = Buffer.from(margins.buffer, margins.byteOffset, margins.length).toString("base64");
}

/** A record's predictions, rounded; null if the policy names no predictor. */
export function recordedPrediction(policyPrediction: PolicyPrediction | null): Decision["predictions"] | null {
  if (policyPrediction === null) return null;
  const { wanted, predicted, searched, search } = policyPrediction;
  const absent = policyPrediction.absent ?? (searched === null ? null : (search?.absent ?? null));
  const { lengths, confidence } = wanted;
  if (lengths === null && confidence === null && searched === null) return null;
  const rounded = (value: number | undefined, digits: number) => (value === undefined ? undefined : Number(value.toFixed(digits)));
  const models = Object.entries(predicted).map(([model, { requestTokens, remainingTokens, confidence: sure }]) => {
    return [
      model,
      { requestTokens: rounded(requestTokens, 1), remainingTokens: rounded(remainingTokens, 1), confidence: rounded(sure, 4) },
    ];
  });
  return {
    ...(lengths !== null && { lengths }),
    ...(confidence !== null && { confidence }),
    ...(searched !== null && { configurations: searched }),
    models: Object.fromEntries(models),
    ...(absent !== null && { absent }),
  };
}
