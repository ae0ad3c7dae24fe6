import type { GatewayConfig, GatewayReplica } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { StandingEngine } from "../steps/planSteps";

export interface ObservedEngine extends StandingEngine {
  readonly url: string;
  /** What the gateway needs beside the address to ask it; left out: nothing. */
  readonly access?: Pick<GatewayReplica, "key" | "caFile" | "servedName">;
}

/** A node with GPUs of another type than the cluster's names it. */
export type ObservedNode = ClusterSpec["nodes"][number] & {
  /** GPUs of it in use by what is none of this studio's; left out: none. */
  readonly othersGpus?: number;
  /** GPUs of it that no engine can be started on, where it is known which, and who has each, as in "is held by ..."; left out: none. */
  readonly heldGpus?: readonly { readonly gpu: number; readonly by: string }[];
  /** Why it takes no new engine, as in "is cordoned"; left out or null: it does. */
  readonly closed?: string | null;
};

/** What a cluster is made of and what it does at this moment, as far as its own interfaces tell. */
export interface Observation {
  readonly gpu: string;
  readonly nodes: readonly ObservedNode[];
  readonly engines: readonly ObservedEngine[];
  /** What the gateway has been told to do. */
  readonly routing: GatewayRouting;
  /** Models of the policy the gateway runs, and of its judge where that is engines; empty when nothing is in force. */
  readonly policyModels: readonly string[];
  /** Workload whose prompts the emulated engines replay; null where engines are real or have none yet. */
  readonly outcomes: string | null;
  readonly timeScale: number;
  /** Whether emulated engines deviate from the planner's model of them; null where engines are real. */
  readonly deviates: boolean | null;
  /** Of dcgm-exporters, one for each node where they are its own. */
  readonly dcgmUrls: readonly string[];
  /** Whether somebody judges answers for policies that have no judge among their engines; left out: it is not known. */
  readonly isJudged?: boolean;
  /** Who does, where that is none of its engines; null: nobody; left out: it is not known. */
  readonly judge?: GatewayConfig["judge"];
  /** Its engines are run by somebody else: plans route over them and never start or stop one. Left out: plans decide what runs. */
  readonly topology?: "given";
  /** What is there, is none of this studio's and stays as it is, a sentence each; left out: nothing. */
  readonly notes?: readonly string[];
}

/** A result, or a sentence on what is in the way: an unreachable cluster is an expected state, not a bug. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `kind`: what could not be reached, where that is known. */
  | { readonly ok: false; readonly message: string; readonly kind?: "gateway-away" };

export interface StepOptions {
  readonly signal: AbortSignal;
  /** Told what is being waited for, whenever that changes. */
  readonly report: (detail: string) => void;
  /** Plan on whose behalf it is done, for labels; left out: none. */
  readonly planId?: string | null;
}

/**
 * A cluster that plans can be put into force on. What is to be done follows from `observe` and a plan by `planSteps`, the
 * same for a difference that is only shown, an apply and a rollback; a connector only carries single steps out.
 */
export interface Connector {
  /** Whether engines replay a workload's prompts and must be given them first. */
  readonly emulated: boolean;
  observe(signal?: AbortSignal): Promise<Answer<Observation>>;
  /** Why the gateway could not be given the trained predictors that a policy names, in a sentence; null: it has them, or they are kept here. */
  predictorObstacle(policy: PolicyDocument, signal?: AbortSignal): Promise<string | null>;
  /**
   * Carries one step out and waits until it holds. Doing a step again that was done before changes nothing and succeeds,
   * so that an interrupted roll-out can go on. Returns what was found, or why it failed; rejects only when aborted.
   */
  applyStep(action: StepAction, options: StepOptions): Promise<Answer<string>>;
  /**
   * Looks anew, as after any step of anybody's, whether a step's effect is there. Changes nothing. Returns what was found, or what was
   * expected and what was found in its place; rejects only when aborted.
   */
  verifyStep(action: StepAction, options: StepOptions): Promise<Answer<string>>;
}
