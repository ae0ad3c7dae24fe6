import type { GatewayConfig, GatewayReplica } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { StandingEngine } from "../steps/planSteps";

export interface ObservedEngine extends StandingEngine {
  readonly url: string;
  /** The gateway's access to it in addition to the address; absent: nothing. */
  readonly access?: Pick<GatewayReplica, "key" | "caFile" | "servedName">;
}

/** A node with GPUs of another type than the cluster's names it. */
export type ObservedNode = ClusterSpec["nodes"][number] & {
  /** Its GPUs that processes other than this studio's use; absent: none. */
  readonly othersGpus?: number;
  /** Its GPUs on which no engine can be started, if known, and who holds each, as in "is held by ..."; absent: none. */
  readonly heldGpus?: readonly { readonly gpu: number; readonly by: string }[];
  /** Why it accepts no new engine, as in "is cordoned"; absent or null: it does. */
  readonly closed?: string | null;
};

/** The hardware and the present state of a cluster, as reported by its own interfaces. */
export interface Observation {
  readonly gpu: string;
  readonly nodes: readonly ObservedNode[];
  readonly engines: readonly ObservedEngine[];
  /** The gateway's routing. */
  readonly routing: GatewayRouting;
  /** Models of the gateway's policy, and of its judge if that runs on engines; empty if nothing is in force. */
  readonly policyModels: readonly string[];
  /** Workload whose prompts the emulated engines replay; null if engines are real or have none yet. */
  readonly outcomes: string | null;
  readonly timeScale: number;
  /** Whether emulated engines deviate from the planner's model; null if engines are real. */
  readonly deviates: boolean | null;
  /** URLs of dcgm-exporters, one for each node if they are its own. */
  readonly dcgmUrls: readonly string[];
  /** Whether there is a judge for policies without a judge among their engines; absent: not known. */
  readonly isJudged?: boolean;
  /** That judge if it is none of its engines; null: there is none; absent: not known. */
  readonly judge?: GatewayConfig["judge"];
  /** Its engines are run externally: plans route over them and never start or stop one. Absent: plans decide what runs. */
  readonly topology?: "given";
  /** Objects there that are not this studio's and stay unchanged, a sentence each; absent: none. */
  readonly notes?: readonly string[];
  /** Programs beside its engines that do not run, a sentence each, which are among the notes too; absent: none. */
  readonly faults?: readonly string[];
}

/** A result, or a sentence on the obstacle: an unreachable cluster is an expected state, not a bug. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `kind`: what could not be reached, if known. */
  | { readonly ok: false; readonly message: string; readonly kind?: "gateway-away" };

export interface StepOptions {
  readonly signal: AbortSignal;
  /** Called with what is being waited for, whenever that changes. */
  readonly report: (detail: string) => void;
  /** Plan for whose labels the step is done; absent: none. */
  readonly planId?: string | null;
}

/**
 * A cluster on which plans can be put into force. The steps follow from `observe` and a plan by `planSteps`, in the same way for a
 * displayed difference, an apply and a rollback; a connector only carries out single steps.
 */
export interface Connector {
  /** Whether engines replay a workload's prompts, which must be loaded first. */
  readonly emulated: boolean;
  observe(signal?: AbortSignal): Promise<Answer<Observation>>;
  /**
   * Why the trained predictors that a policy names cannot be uploaded to the gateway, in a sentence; null: it has them, or they are saved
   * here.
   */
  predictorObstacle(policy: PolicyDocument, signal?: AbortSignal): Promise<string | null>;
  /**
   * Why a gate of a policy has no scores there, in a sentence: it reads log probabilities, and an engine of its model that runs does not
   * report them when asked for one token, or a profile found so; null: nothing is known against it. Engines that do not run are not asked.
   */
  gateObstacle(policy: PolicyDocument, signal?: AbortSignal): Promise<string | null>;
  /**
   * Carries out one step and waits until its effect holds. Repeating a step changes nothing and succeeds, so that an interrupted roll-out
   * can continue. Returns what was found, or why it failed; rejects only when aborted.
   */
  applyStep(action: StepAction, options: StepOptions): Promise<Answer<string>>;
  /**
   * Checks by a new observation whether a step's effect is there, whoever did the step. Changes nothing. Returns what was found, or what
   * was expected and what was found instead; rejects only when aborted.
   */
  verifyStep(action: StepAction, options: StepOptions): Promise<Answer<string>>;
}
