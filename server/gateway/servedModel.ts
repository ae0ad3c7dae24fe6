import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import type { Candidate } from "@/server/contracts/gatewayControls";
import { canonicalJson } from "@/solver/plan/canonical";
import { modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Outage } from "@/solver/policies/policy";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { cascadeName } from "./cascadeNames";
import { wantedBy } from "./foresight";
import type { Judge } from "./judge";
import { PolicyDriver } from "./policyDriver";
import type { Wanted } from "./prediction";
import type { ReplicaPool } from "./replicaPool";
import type { RoundTallies } from "./roundTallies";
import { type PolicyWatcher, watchedPolicy } from "./watchedPolicy";

/** How requests for a model by its own name are recorded: no plan decides about them, so none is measured by them. */
const direct = { kind: "direct", planId: "", policyHash: "direct" } as const;
/** As simple as can be: what is in force for an emergency reads no telemetry and prefers nobody. */
const panicQueueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;

/** What requests go by: the virtual model of the cascade, one engine model, or what an operator has put in the place of either. */
export interface ServedModel {
  /** What clients put in `model`, or `panic` or `canary`. */
  readonly name: string;
  readonly kind: "cascade" | "direct";
  /** Whether it is a canary's candidate. */
  readonly canary: boolean;
  /** Empty for a model by its own name. */
  readonly planId: string;
  readonly policyHash: string;
  readonly thresholds: readonly number[];
  /** Every model a request under this name may visit. */
  readonly models: readonly string[];
  /** How many configurations the workflows have that its policy knows, by their names. */
  readonly configurations: ReadonlyMap<string, number>;
  readonly driver: PolicyDriver;
  /** What its policy asks of predictors; null: nothing. */
  readonly wanted: Wanted | null;
  readonly judge: Judge | null;
  readonly timeScale: number;
  /** Equal keys mean equal behaviour, so that a new configuration can go on with the driver it has. */
  readonly key: string;
}

export interface Surroundings {
  readonly config: GatewayConfig;
  readonly pool: ReplicaPool;
  readonly outage: () => Outage;
  readonly judge: Judge | null;
  readonly queued: Map<string, number>;
  readonly onRoom: (nowMs: number) => void;
  readonly rounds: RoundTallies;
  /** Looks on while the cascade's requests are decided about. */
  readonly shadow: () => PolicyWatcher | null;
}

/** The cascade of a configuration as `cascade/<name>`. */
export function cascadeModel(surroundings: Surroundings): ServedModel {
  const { name, policy, planId, policyHash } = surroundings.config;
  return servedModel(cascadeName(name), { kind: "cascade", policy, planId, policyHash }, surroundings);
}

/** Models of whose engines one will serve work that waits for `model`: any, where the policy chooses when engines have room. */
export const modelsBehind = ({ driver, models }: ServedModel, model: string): readonly string[] =>
  driver.policy.choosesModel ? models : [model];

/** One model straight to its engines, with the configuration's order and place. */
export function directModel(model: string, surroundings: Surroundings): ServedModel {
  const { order, place, learnt: { lengths } = {} } = surroundings.config.policy;
  const learnt = lengths === undefined ? {} : { learnt: { lengths } };
  return servedModel(model, { policy: { kind: "fixed", model, order, place, ...learnt }, ...direct }, surroundings);
}

/** Every request for text to one model, whichever it names. */
export function panicModel(model: string, surroundings: Surroundings): ServedModel {
  return servedModel("panic", { policy: { kind: "fixed", model, ...panicQueueing }, ...direct, policyHash: "panic" }, surroundings);
}

/** Which programs a candidate takes. */
export interface CanaryShare {
  readonly candidate: Candidate;
  takes(programId: string): boolean;
}

/** A candidate in the place of the cascade. */
export function canaryModel({ policy, planId, policyHash }: Candidate, surroundings: Surroundings): ServedModel {
  return servedModel("canary", { kind: "cascade", canary: true, policy, planId, policyHash }, surroundings);
}

interface NamedPolicy {
  readonly kind: ServedModel["kind"];
  readonly canary?: boolean;
  readonly policy: PolicyDocument;
  readonly planId: string;
  readonly policyHash: string;
}

function servedModel(
  name: string,
  { kind, canary = false, policy, planId, policyHash }: NamedPolicy,
  { config, pool, outage, judge, queued, onRoom, rounds, shadow }: Surroundings,
): ServedModel {
  const { timeScale } = config;
  const built = buildPolicy(policy);
  // What is chosen when engines have room is no decision that another policy's could be held against.
  const acting = kind === "cascade" && !built.choosesModel ? watchedPolicy(built, shadow) : built;
  return {
    name,
    kind,
    canary,
    planId,
    policyHash,
    thresholds: policy.kind === "cascade" ? policy.thresholds : [],
    models: modelsOf(policy),
    configurations: configurationsOf(policy),
    driver: new PolicyDriver({
      ...{ policy: acting, replicas: (nowMs) => pool.replicasAt(nowMs), outage, timeScale, queued, onRoom, rounds },
      line: built.choosesModel ? name : undefined,
    }),
    wanted: wantedBy(policy, built),
    judge,
    timeScale,
    key: canonicalJson({ name, planId, policyHash, policy, timeScale, judge: config.judge, judgeLimits: config.settings?.judge ?? null }),
  };
}

function configurationsOf(policy: PolicyDocument): ServedModel["configurations"] {
  if (policy.kind !== "just-in-time") return new Map();
  const models = modelsOf(policy);
  return new Map(policy.workflows.map(({ workflow }) => [workflow.name, configurationSpace(workflow, models).size]));
}
