import { plannedLimits, targetEngines } from "@/server/clusters/steps/targetEngines";
import type { ControlFigures, ControlsForecast, LiveFrame, Outcome } from "@/server/contracts/studio";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { Planning } from "@/server/planning/planningService";
import { rateNow } from "@/server/planning/rateNow";
import type { Store } from "@/server/store/store";
import type { ServingEngine, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import { modelsOf, type PolicyDocument, type SlackPolicy } from "@/solver/plan/policySchema";
import { controlValuesOf, type PolicyOverrides, policyWithOverrides } from "@/solver/policies/policyControls";

export interface ControlForecastParts {
  readonly store: Pick<Store, "plans">;
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector"> | null;
  readonly planning: Pick<Planning, "serve">;
}

/** A policy and the change of its controls, by which its forecast is found again. */
interface ForecastKey {
  readonly clusterId: string;
  readonly policyHash: string;
  /** With the values to be set. */
  readonly policy: PolicyDocument;
}

/** Values for controls, of the policy that was seen. */
export interface ForecastRequest extends PolicyOverrides {
  readonly policyHash?: string | undefined;
}

export interface ControlForecasts {
  /**
   * Simulates the policy in force and the same with other values of its controls, on the engines that serve now at the present rate. Refused
   * where no plan is in force, values are outside their approved ranges, or the policy is not simulated. It stops when the signal aborts.
   */
  forecast(clusterId: string, values: ForecastRequest, signal: AbortSignal): Promise<Outcome<{ readonly forecast: ControlsForecast }>>;
  /** The last forecast of this change; null: none was made. */
  shown(key: ForecastKey): ControlsForecast | null;
}

/** Forecasts kept until their change is made. */
const KEPT = 200;

/** Creates the forecasts of changes of controls, which remember what they answered. */
export function createControlForecasts({ store, clusterOf, planning }: ControlForecastParts): ControlForecasts {
  const kept = new Map<string, ControlsForecast>();
  const keyOf = ({ clusterId, policyHash, policy }: ForecastKey): string =>
    JSON.stringify([clusterId, policyHash, controlValuesOf(policy, undefined)]);

  function keep(key: string, forecast: ControlsForecast): void {
    kept.delete(key);
    kept.set(key, forecast);
    const oldest = kept.keys().next().value;
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  }

  return {
    async forecast(clusterId, values, signal) {
      const collector = clusterOf(clusterId)?.collector() ?? null;
      const routing = collector?.routing() ?? null;
      if (collector === null || routing === null)
        return { ok: false, message: "No policy is in force here, or the gateway does not answer." };
      if (values.policyHash !== undefined && values.policyHash !== routing.policyHash)
        return { ok: false, message: "Another policy came into force: choose the values again." };
      const plan = store.plans.get(routing.planId);
      if (plan === null) return { ok: false, message: `The plan in force, ${routing.planId.slice(0, 8)}, is not kept here.` };
      const turned = policyWithOverrides(routing.policy, values);
      if (typeof turned === "string") return { ok: false, message: turned };
      const { policy } = turned;
      const running = routing.policy;
      if ((policy.kind !== "cascade" && policy.kind !== "slack") || (running.kind !== "cascade" && running.kind !== "slack"))
        return { ok: false, message: `Only cascades and slack dispatch are simulated, not ${policy.kind}.` };
      const { engines, says } = servingEngines(plan, collector.frames().at(-1));
      const missing = modelsOf(policy).some((model) => engines.every((engine) => engine.model !== model));
      const lost = missing ? { lost: { lowerMayAnswer: (routing.controls?.strictStages ?? null) === null } } : {};
      const { requestsPerSecond, basis } = rateNow(collector, plan);
      const servings = [running, policy].map((document) => ({ policy: withoutGrace(document), engines, ...lost }));
      const served = await planning.serve(plan, { servings, requestsPerSecond }, signal);
      if (!served.ok) return served;
      const [inForce, changed] = served.figures;
      if (inForce === undefined || changed === undefined) throw new Error("The planner left figures out.");
      const forecast = {
        ...{ requestsPerSecond, basis: [basis, ...says, ...graceSays(running)].join(" "), models: modelsOf(policy) },
        ...{ inForce: figuresOf(plan, inForce), changed: figuresOf(plan, changed) },
      };
      keep(keyOf({ clusterId, policyHash: routing.policyHash, policy }), forecast);
      return { ok: true, forecast };
    },
    shown: (key) => kept.get(keyOf(key)) ?? null,
  };
}

/** A policy whose thresholds stay as they are: figures of values for thresholds are of these. */
function withoutGrace<Policy extends CascadePolicy | SlackPolicy>(policy: Policy): Policy {
  if (policy.kind !== "cascade") return policy;
  const { grace: _, ...fixed } = policy;
  return fixed as Policy;
}

const graceSays = (policy: CascadePolicy | SlackPolicy): readonly string[] =>
  policy.kind === "cascade" && policy.grace !== undefined ? ["Grace is not simulated: thresholds stay as they are."] : [];

/** Simulated figures with the plan's own uncertainty: its relative band of the p95, and the distance of its quality from the bound. */
function figuresOf({ predictions }: Plan, { capacityPerSecond, quality, p95Seconds, share }: ServingFigures): ControlFigures {
  const { p95Band, qualityBand } = predictions;
  const relative = p95Seconds === null || !(predictions.p95Seconds > 0) ? null : p95Seconds / predictions.p95Seconds;
  return {
    ...{ capacityPerSecond, quality, p95Seconds, share },
    qualityLow: quality === null ? null : Math.max(0, quality - Math.max(0, predictions.quality - qualityBand.low)),
    p95Band: relative === null ? null : { low: p95Band.low * relative, high: p95Band.high * relative },
  };
}

/** The plan's engines, of each model as many as serve, those that are known to serve first; all of them while nothing is known. */
function servingEngines(
  plan: Plan,
  frame: LiveFrame | undefined,
): { readonly engines: readonly ServingEngine[]; readonly says: readonly string[] } {
  const limits = new Map(plannedLimits(plan));
  const planned = targetEngines(plan);
  const serving = frame?.gateway.state === "fresh" ? frame.engines.filter(({ health }) => health === "serving") : null;
  const ids = new Set(serving?.map(({ id }) => id));
  const kept = modelsIn(planned).flatMap((model) => {
    const own = planned.filter((engine) => engine.model === model);
    const most = serving === null ? own.length : serving.filter((engine) => engine.model === model).length;
    return [...own.filter(({ id }) => ids.has(id)), ...own.filter(({ id }) => !ids.has(id))].slice(0, most);
  });
  return {
    engines: kept.map(({ id, model, gpu, tp, pp }) => ({ model, gpu, tp, pp, maxInFlight: limits.get(id) ?? inFlightLimit({}) })),
    says: kept.length === planned.length ? [] : [`${kept.length} of the plan's ${planned.length} engines serve.`],
  };
}

const modelsIn = (engines: readonly { readonly model: string }[]): readonly string[] => [...new Set(engines.map(({ model }) => model))];
