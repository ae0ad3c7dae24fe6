import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { Candidate } from "@/server/contracts/gateway/gatewayControls";
import { canonicalJson } from "@/solver/plan/canonical";
import { gatesOf, modelsOf, type PolicyDocument, singleStagesOf, thresholdsOf } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Outage } from "@/solver/policies/core/policy";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ReplicaPool } from "../engines/replicaPool";
import { type AnswerGate, answerGates, mirrorGates } from "../gates/answerGate";
import type { GateWatch } from "../gates/gateWatch";
import type { Judge } from "../judge/judge";
import type { Wanted } from "../prediction/prediction";
import { wantedBy } from "../prediction/requestPredictions";
import { PolicyDriver } from "../queue/policyDriver";
import type { RoundTallies } from "../queue/roundTallies";
import { cascadeName } from "./cascadeNames";
import { type PolicyWatcher, watchedPolicy } from "./watchedPolicy";

/** Record values of requests for a model by its own name: no plan decides on them, so none is measured by them. */
const direct = { kind: "direct", planId: "", policyHash: "direct" } as const;
/** In an emergency the simplest policy serves: no telemetry, first come first served. */
const panicQueueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;

/** What serves a request: the cascade's virtual model, one engine model, or an operator's replacement of either. */
export interface ServedModel {
  /** What clients write in `model`, or `panic` or `canary`. */
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
  /** The models of the stages of requests of no declared workflow; later stages, if any, are of calls, one for each of `models`. */
  readonly singles: readonly string[];
  /** Numbers of configurations of the workflows that its policy knows, by name. */
  readonly configurations: ReadonlyMap<string, number>;
  readonly driver: PolicyDriver;
  /** What its policy asks of predictors; null: nothing. */
  readonly wanted: Wanted | null;
  readonly judge: Judge | null;
  /** By stage; a stage whose answers get no score has none. */
  readonly gates: ReadonlyMap<number, AnswerGate>;
  /** What scores the answers that its mirrored requests get, by model; a model without an entry has nothing that scores it. */
  readonly mirrorGates: ReadonlyMap<string, AnswerGate>;
  readonly timeScale: number;
  /** Equal keys mean equal behaviour, so that a new configuration can continue with the existing driver. */
  readonly key: string;
}

export interface ServingDeps {
  readonly config: GatewayConfig;
  readonly pool: ReplicaPool;
  readonly outage: () => Outage;
  readonly judge: Judge | null;
  readonly gateWatch: GateWatch;
  readonly queued: Map<string, number>;
  readonly onRoom: (nowMs: number) => void;
  readonly rounds: RoundTallies;
  /** Increases whenever forecasts of waiting requests may have changed. */
  readonly forecastRevision: () => number;
  /** Observes the decisions on the cascade's requests. */
  readonly shadow: () => PolicyWatcher | null;
}

/** The cascade of a configuration as `cascade/<name>`. */
export function cascadeModel(deps: ServingDeps): ServedModel {
  const { name, policy, planId, policyHash } = deps.config;
  return servedModel(cascadeName(name), { kind: "cascade", policy, planId, policyHash }, deps);
}

/** Models whose engines may serve work that waits in the line of `model`: all of them, if the policy chooses when engines have room. */
export const modelsBehind = ({ driver, models }: ServedModel, model: string): readonly string[] =>
  driver.policy.choosesModel ? models : [model];

/** Whether work at a stage is a call whose model is chosen when engines have room, and not a request that goes from stage to stage. */
export const isCallStage = ({ driver, singles }: ServedModel, stage: number): boolean =>
  driver.policy.choosesModel === true && stage >= singles.length;

/** The models that may answer work at a stage, in the order of its stages. */
export const candidatesAt = (served: ServedModel, stage: number): readonly string[] =>
  isCallStage(served, stage) ? served.models : served.singles;

/** A stage's number among those of its candidates, from 1. */
export const stageNumber = (served: ServedModel, stage: number): number =>
  1 + (isCallStage(served, stage) ? stage - served.singles.length : stage);

/** One model, sent directly to its engines, with the configuration's order and placement. */
export function directModel(model: string, deps: ServingDeps): ServedModel {
  const { order, place, learnt: { lengths } = {} } = deps.config.policy;
  const learnt = lengths === undefined ? {} : { learnt: { lengths } };
  return servedModel(model, { policy: { kind: "fixed", model, order, place, ...learnt }, ...direct }, deps);
}

/** Every request for text goes to one model, whichever it names. */
export function panicModel(model: string, deps: ServingDeps): ServedModel {
  return servedModel("panic", { policy: { kind: "fixed", model, ...panicQueueing }, ...direct, policyHash: "panic" }, deps);
}

/** The programs that a candidate takes. */
export interface CanaryShare {
  readonly candidate: Candidate;
  takes(programId: string): boolean;
}

/** A canary's candidate, which replaces the cascade. */
export function canaryModel({ policy, planId, policyHash }: Candidate, deps: ServingDeps): ServedModel {
  return servedModel("canary", { kind: "cascade", canary: true, policy, planId, policyHash }, deps);
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
  { config, pool, outage, judge, gateWatch, queued, onRoom, rounds, forecastRevision, shadow }: ServingDeps,
): ServedModel {
  const { timeScale } = config;
  const built = buildPolicy(policy);
  const engines = { pool: pool.own, queued, onRoom };
  // A choice at dispatch cannot be compared with a shadow's start.
  const acting =
    kind === "cascade" && !built.choosesModel
      ? watchedPolicy(
          built,
          gatesOf(policy).map((gate) => canonicalJson(gate)),
          shadow,
        )
      : built;
  return {
    name,
    kind,
    canary,
    planId,
    policyHash,
    thresholds: thresholdsOf(policy),
    models: modelsOf(policy),
    singles: singleStagesOf(policy),
    configurations: configurationsOf(policy),
    driver: new PolicyDriver({
      ...{ policy: acting, replicas: (nowMs) => pool.replicasAt(nowMs), outage, timeScale, queued, onRoom, rounds },
      ...(built.needs.includes("workflows") && { forecastRevision }),
      line: built.choosesModel ? name : undefined,
    }),
    wanted: wantedBy(policy, built),
    judge,
    gates: answerGates(policy, built, { judge, engines, watch: gateWatch }),
    mirrorGates: mirrorGates(policy, { judge, engines }),
    timeScale,
    key: canonicalJson({ name, planId, policyHash, policy, timeScale, judge: config.judge, judgeLimits: config.settings?.judge ?? null }),
  };
}

function configurationsOf(policy: PolicyDocument): ServedModel["configurations"] {
  if (policy.kind !== "just-in-time") return new Map();
  const models = modelsOf(policy);
  return new Map(policy.workflows.map(({ workflow }) => [workflow.name, configurationSpace(workflow, models).size]));
}
