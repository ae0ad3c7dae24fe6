import type { WorkflowRun } from "@/server/contracts/gateway/workflowRuns";
import type { Capture, LearntWorkflows, Outcome, ServingModel, WaitedRecords } from "@/server/contracts/studio";
import type { TryRunRequest } from "@/server/contracts/studio/declaredWorkflows";
import type { ObservedRounds } from "@/server/contracts/studio/observedGateway";
import type { Actor } from "./actor";
import type { CanaryOrder, CaptureOrder, KnobsOrder, MirrorOrder, PanicOrder, RollBackOrder, ShadowOrder } from "./inputs";

/**
 * What an operator does to live traffic at a cluster's gateway, in their name. A gateway that does not answer within seconds, and one that
 * refuses, is an outcome with its sentence. While a plan is applied, canary, knobs and rollback are refused: the next step would undo them.
 */
export interface GatewayService {
  /** Models the gateway has engines of, as last known: it is asked only where it was never heard. */
  models(clusterId: string): Promise<Outcome<{ readonly models: readonly ServingModel[] }>>;
  panic(clusterId: string, order: PanicOrder, actor: Actor): Promise<Outcome<object>>;
  clearPanic(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Refused for a plan that is not approved. */
  startCanary(clusterId: string, order: CanaryOrder, actor: Actor): Promise<Outcome<object>>;
  stopCanary(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Any kept plan: a shadow acts on nothing. */
  startShadow(clusterId: string, order: ShadowOrder, actor: Actor): Promise<Outcome<object>>;
  endShadow(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  startMirror(clusterId: string, order: MirrorOrder, actor: Actor): Promise<Outcome<object>>;
  endMirror(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Refuses what only a smaller model than the policy chose could answer, because every larger one is lost. */
  holdStages(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Lets the largest model that is left answer it, marked. */
  releaseStages(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** What is kept of live traffic, asked of the gateway now. */
  capture(clusterId: string): Promise<Outcome<{ readonly capture: Capture }>>;
  startCapture(clusterId: string, order: CaptureOrder, actor: Actor): Promise<Outcome<object>>;
  /** What is kept stays until its time is over. */
  endCapture(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Ends it where it runs, and deletes all that is kept. */
  eraseCapture(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** The hash of the policy as turned; null where the gateway does not say it. */
  setControls(clusterId: string, order: KnobsOrder, actor: Actor): Promise<Outcome<{ readonly policyHash: string | null }>>;
  rollBack(clusterId: string, order: RollBackOrder, actor: Actor): Promise<Outcome<object>>;
  /** All that it learnt of workflows; it begins anew with the next call. */
  forgetWorkflows(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
}

/** What gateways learn of the applications that call them. */
export interface WorkflowsService {
  /** Refused where the gateway does not answer. */
  get(clusterId: string): Promise<Outcome<{ readonly learnt: LearntWorkflows }>>;
  /** By the gateway's newest decision records that the studio holds, since the gateway was started last. */
  waitTimes(clusterId: string): WaitedRecords;
  /** What its gateway did in its latest rounds. */
  rounds(clusterId: string): Promise<Outcome<{ readonly seen: ObservedRounds }>>;
  /** Has the gateway run a workflow of the plan in force, as any client would without a key; a run that failed is told as one. */
  tryRun(request: TryRunRequest, signal: AbortSignal): Promise<Outcome<{ readonly run: WorkflowRun }>>;
}
