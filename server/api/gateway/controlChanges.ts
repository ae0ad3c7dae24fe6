import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { ControlChange, ControlsForecast } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { isPredicted } from "@/solver/plan/policySchema";
import {
  type ControlValues,
  controlChangeText,
  controlValuesOf,
  type PolicyOverrides,
  policyWithOverrides,
} from "@/solver/policies/policyControls";
import { secondsText } from "@/solver/wording/wording";
import type { ControlForecasts } from "./controlForecasts";

/** A change of controls before it is sent to the gateway. */
export type PlannedChange = Pick<ControlChange, "clusterId" | "planId" | "hashBefore" | "from" | "to" | "forecast">;

/**
 * The change that values would make to the configuration that was seen, with the forecast that was shown of it. A change back has the
 * forecast of the change that it undoes. null where the values cannot be set: the gateway says why.
 */
export function plannedChange(
  { store, forecasts }: { readonly store: Pick<Store, "plans" | "controlChanges">; readonly forecasts: Pick<ControlForecasts, "shown"> },
  { planId, policyHash, policy }: Pick<GatewayConfig, "planId" | "policyHash" | "policy">,
  { clusterId, values }: { readonly clusterId: string; readonly values: PolicyOverrides },
): PlannedChange | null {
  const turned = policyWithOverrides(policy, values);
  if (typeof turned === "string") return null;
  const plan = store.plans.get(planId);
  const steps = plan !== null && isPredicted(plan.policy) ? plan.predictions.slack : undefined;
  const [from, to] = [controlValuesOf(policy, steps), controlValuesOf(turned.policy, steps)];
  const last = store.controlChanges.last(clusterId);
  const undoes = last !== null && last.planId === planId && last.hashAfter === policyHash && isSame(last.from, to);
  const undone =
    undoes && last.forecast !== null ? { ...last.forecast, inForce: last.forecast.changed, changed: last.forecast.inForce } : null;
  const forecast = forecasts.shown({ clusterId, policyHash, policy: turned.policy }) ?? undone;
  return { clusterId, planId, hashBefore: policyHash, from, to, forecast };
}

/** For the audit: `slack 0 → 20 % (thresholds 84, 56 → 90, 61)` and `forecast p95 11.2 s, quality 86.1`. */
export function plannedChangeTexts({ from, to, forecast }: PlannedChange): readonly string[] {
  return [controlChangeText(from, to), ...(forecast === null ? [] : [forecastText(forecast)])];
}

function forecastText({ requestsPerSecond, changed: { p95Seconds, quality } }: ControlsForecast): string {
  if (p95Seconds === null || quality === null) return `forecast: the engines do not sustain ${requestsPerSecond} requests/s`;
  return `forecast p95 ${secondsText(p95Seconds)}, quality ${quality.toFixed(1)}`;
}

const isSame = (one: ControlValues, other: ControlValues): boolean =>
  one.tau === other.tau && one.deltaScore === other.deltaScore && String(one.thresholds) === String(other.thresholds);
