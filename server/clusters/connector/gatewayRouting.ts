import { type GatewayConfig, type GatewayReplica, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRouting } from "@/server/store/documents/storedStep";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Plan } from "@/solver/plan/plan";
import { logProbabilityGates } from "@/solver/plan/planGates";
import { asksJudge, deployedModelsOf, gatePeersOf, modelsOf, type PolicyDocument, readyJudgeOf } from "@/solver/plan/policySchema";
import { plannedLimits } from "../steps/targetEngines";
import type { ObservedEngine } from "./connector";

/**
 * The name under which clients reach a plan's cascade in addition to `cascade/default`: the plan's own name, in the characters allowed in a
 * model name.
 */
function servedName(planName: string): string {
  const name = planName.toLowerCase().replace(/[^a-z0-9._-]+/g, "-");
  return (
    name
      .replace(/^[._-]+/, "")
      .slice(0, 63)
      .replace(/[._-]+$/, "") || "plan"
  );
}

/** The routing of a gateway configuration. */
export function routingOf(config: GatewayConfig | null): GatewayRouting {
  const inState = (state: "active" | "cordoned") => (config?.replicas ?? []).filter((one) => one.state === state).map((one) => one.id);
  return { planId: config?.planId ? config.planId : null, active: inState("active"), cordoned: inState("cordoned") };
}

/**
 * The models to which a gateway sends requests: the policy's, those that its gates compare with, and the judge's if that runs on engines of
 * the configuration.
 */
export function routedModelsOf({ policy, judge }: GatewayConfig): string[] {
  const models = [...modelsOf(policy), ...gatePeersOf(policy)];
  return judge === null || judge.url !== undefined ? models : [...models, judge.model];
}

export interface ConfigParts {
  readonly routing: GatewayRouting;
  /** The plan that `routing` names, if it is saved. */
  readonly plan: Plan | null;
  readonly engines: readonly ObservedEngine[];
  /** The cluster's own judge, for policies without one among their engines. */
  readonly judge: GatewayConfig["judge"];
  readonly timeScale: number;
  /** Models whose engines are known not to report log probabilities. Left out: none. */
  readonly silent?: readonly string[];
  /** Configuration in force: its policy stays, with its present knobs, if `routing` names its plan or none. */
  readonly current: GatewayConfig | null;
}

/**
 * The gateway configuration for a routing: policy and engines in one versioned unit, so that thresholds of one plan never run over the
 * engines of another. null if there is no policy to write: nothing is in force and nothing was before.
 */
export function gatewayConfig({ routing, plan, engines, judge, timeScale, silent = [], current }: ConfigParts): GatewayConfig | null {
  const part = plan === null || current?.planId === routing.planId ? current : plan;
  const name = plan === null ? current?.name : servedName(plan.metadata.name);
  if (part === null || name === undefined) return null;
  const limits = limitsByEngine(plan, current);
  // The gateway refuses the mark under a gate that reads them: a policy that is in force already, or gone back to, must stay writable.
  const marked = logProbabilityGates(part.policy).some(({ model }) => silent.includes(model)) ? [] : silent;
  const entry = (id: string, state: GatewayReplica["state"]): readonly GatewayReplica[] => {
    const engine = engines.find((one) => one.id === id);
    if (engine === undefined) return [];
    const { model, url, access } = engine;
    const maxInFlight = limits.get(id) ?? inFlightLimit({});
    return [{ id, model, url, state, maxInFlight, ...access, ...(marked.includes(model) && { logProbabilities: false as const }) }];
  };
  const own = [...routing.active.flatMap((id) => entry(id, "active")), ...routing.cordoned.flatMap((id) => entry(id, "cordoned"))];
  const replicas = [...own, ...hostedReplicas(plan, part.policy, current)];
  // The gateway refuses a model without any engine. A model that is out while its GPUs are reassigned stays listed, cordoned.
  const out = deployedModelsOf(part.policy).filter((model) => !replicas.some((replica) => replica.model === model));
  const standIns = out.flatMap((model) => current?.replicas.find((replica) => replica.model === model) ?? []);
  // Its requests wait for it, unless everything is being stopped.
  const inService = (model: string): boolean => replicas.some((replica) => replica.model === model && replica.state === "active");
  const awaited = routing.planId === null ? [] : deployedModelsOf(part.policy).filter((model) => !inService(model));
  return {
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name,
    planId: routing.planId ?? "",
    policyHash: part.policyHash,
    policy: part.policy,
    replicas: [...replicas, ...standIns.map((replica) => ({ ...replica, state: "cordoned" as const }))],
    ...(awaited.length === 0 ? {} : { awaited }),
    judge: judgeFor(part.policy, judge, replicas),
    timeScale,
  };
}

/** The hosted models of a policy, by its plan; those of a policy that stays in force as they are in the configuration. */
function hostedReplicas(plan: Plan | null, policy: PolicyDocument, current: GatewayConfig | null): readonly GatewayReplica[] {
  const models = modelsOf(policy);
  const planned = (plan?.inputs.cluster.hosted ?? []).filter(({ model }) => models.includes(model));
  const kept = (current?.replicas ?? []).filter(
    ({ model, hosted }) => hosted !== undefined && models.includes(model) && planned.every((one) => one.model !== model),
  );
  const made = planned.map(
    ({ model, url, servedName, key, maxInFlight, ...hosted }): GatewayReplica => ({
      ...{ id: `hosted-${model}`, model, url, state: "active", maxInFlight, hosted },
      ...(servedName === undefined ? {} : { servedName }),
      ...(key === undefined ? {} : { key }),
    }),
  );
  return [...made, ...kept];
}

/** The configuration that a gateway has after it was given one without settings: it keeps those of its present one. */
export function keptSettings(config: GatewayConfig, current: GatewayConfig | null): GatewayConfig {
  const settings = current?.settings;
  return gatewayConfigSchema.parse(settings === undefined ? config : { ...config, settings });
}

/** The judge on engines of the plan, also one that judges nothing until a threshold of 0 is raised; else the cluster's own. */
function judgeFor(policy: PolicyDocument, own: GatewayConfig["judge"], replicas: readonly GatewayReplica[]): GatewayConfig["judge"] {
  const model = readyJudgeOf(policy);
  // The gateway refuses a judge without any engine.
  const isThere = asksJudge(policy) || replicas.some((replica) => replica.model === model);
  return model !== null && isThere ? { model } : own;
}

/** The request limit of each engine: the plan's, and for engines of an earlier plan their previous limit. */
function limitsByEngine(plan: Plan | null, current: GatewayConfig | null): ReadonlyMap<string, number> {
  const before = (current?.replicas ?? []).map(({ id, maxInFlight }) => [id, maxInFlight] as const);
  return new Map([...before, ...(plan === null ? [] : plannedLimits(plan))]);
}
