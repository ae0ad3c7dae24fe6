/** What the studio's API answers: plain data, the only part of `server` that components see besides the router's type. */
import type { ChosenFit } from "@/solver/calibration/chooseFit";
import type { ServingPrediction } from "@/solver/calibration/predictServing";
import type { GroupErrors } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import type { ConflictingConstraint } from "@/solver/cascade/explainConflict";
import type { NoPlanKind } from "@/solver/cascade/exploration";
import type { ExplorationWire } from "@/solver/cascade/explorationWire";
import type { PlanningProgress } from "@/solver/cascade/progress";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { ClusterSpec, Plan } from "@/solver/plan/plan";
import type { RowProblem } from "@/solver/workload/rowProblems";
import type { Attention } from "./attachedCluster";
import type { Panic } from "./gatewayControls";
import type { Sample } from "./liveFrame";
import type { Halt, Verification } from "./rollOut";

export type * from "./arrivals";
export type * from "./artefacts";
export type * from "./attachedCluster";
export type * from "./batches";
export type * from "./declaredWorkflows";
export type * from "./ensembles";
export type * from "./gatewayEnsembles";
export type * from "./gatewayRounds";
export type * from "./judges";
export type * from "./lab";
export type * from "./learntWorkflows";
export type * from "./liveFrame";
export type * from "./liveRows";
export type * from "./liveStream";
export type * from "./profile";
export type * from "./promise";
export type * from "./prompts";
export type * from "./rollOut";
export type * from "./schedule";
export type * from "./seenRounds";
export type * from "./seriesRange";
export type * from "./trust";
export type { EngineReadingName, EngineReadings, Reading, ScrapeFailureKind, TargetEvent, TargetState } from "./watchedTarget";
export type * from "./workflowRuns";
export type * from "./workloadComparison";
export type * from "./workloadDetail";
export type * from "./workloadSummary";
export type * from "./workloadTies";

export interface ClusterSummary {
  readonly spec: ClusterSpec;
  /** Plan in force, if any. Only clusters that are connected run one. */
  readonly runningPlanId: string | null;
  readonly runningSince: string | null;
  /** What planning begins with: the inputs of the running plan, else what suits a newcomer. */
  readonly suggested: { readonly workloadId: string; readonly requestsPerSecond: number; readonly qualityFloor: number } | null;
  readonly health: { readonly word: "up" | "degraded" | "down" | "not connected"; readonly reason: string };
  /** What an operator should look at; empty: nothing. */
  readonly attention: readonly Attention[];
  /** Root of the API that clients use, without `/v1`; null: it has no gateway. */
  readonly gatewayUrl: string | null;
  /** `given`: its engines are run by somebody else, and plans change routing only. */
  readonly topology: "given" | "planned";
  /** The panic its gateway is in, as last known; null: none, or the gateway was not heard yet. */
  readonly panic: Panic | null;
  readonly emulated: boolean;
  /** Emulated engines follow the planner's own model to the letter: measuring them tests the drivers, not the predictions. */
  readonly emulatedAsPlanned: boolean;
  readonly timeScale: number;
}

/** A plan in lists: without its bulk. */
export interface PlanSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly clusterId: string;
  readonly workloadId: string;
  readonly workloadName: string;
  readonly stages: readonly string[];
  readonly thresholds: readonly number[];
  readonly gpus: number;
  /** As predicted; null, as the next two: nothing predicts what its policy does, and figures in the document are another plan's. */
  readonly quality: number | null;
  readonly p95Seconds: number | null;
  readonly costUsdPerRequest: number | null;
  readonly approvedBy: string | null;
  /** Of that approval; null: it is not approved. */
  readonly approvalReason: string | null;
  readonly running: boolean;
}

/** `engine`: one engine, which a line on its model sums up; `plan`: a model, or how requests are routed. */
export type DiffLine = {
  readonly sign: "+" | "-" | "~" | "=";
  readonly of: "plan" | "engine";
  readonly subject: string;
  readonly text: string;
};

/** What applying a plan would change, computed by the same code that applies it. */
export interface PlanDiff {
  readonly planId: string;
  readonly againstPlanId: string | null;
  readonly lines: readonly DiffLine[];
  readonly steps: readonly ApplyStep[];
  /**
   * Share of a model's serving GPUs that is out at the worst moment of the roll-out, 0..1, for the model hit hardest,
   * against the smaller of what it has before and after. 1: that model answers nothing for a while.
   */
  readonly capacityDip: number;
  /** GPUs that no engine occupies before the first step. */
  readonly spareGpus: number;
  /** What is on the cluster, is none of Weir's and stays as it is, in sentences. */
  readonly notes: readonly string[];
}

export type StepState = "waiting" | "running" | "done" | "failed" | "skipped";

export interface ApplyStep {
  readonly id: string;
  readonly kind: "load-outcomes" | "start" | "verify" | "switch-policy" | "drain" | "stop";
  readonly text: string;
  readonly state: StepState;
  readonly detail: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Engine it is done to, whose log tells more; null: it concerns none alone. */
  readonly engineId: string | null;
}

export type ApplicationState = "grace" | "running" | "paused" | "done" | "failed" | "aborted" | "rolled-back";

/** One attempt to put a plan into force. A rollback is an application of the earlier plan. */
export interface Application {
  readonly id: string;
  readonly clusterId: string;
  /** null: a rollback to the empty cluster. */
  readonly planId: string | null;
  readonly previousPlanId: string | null;
  /** Whether what was in force before, a plan that is kept here or nothing, can be gone back to. */
  readonly hasWayBack: boolean;
  readonly kind: "apply" | "rollback";
  readonly state: ApplicationState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly graceEndsAt: string | null;
  readonly steps: readonly ApplyStep[];
  readonly error: string | null;
  readonly actor: string;
  /** What was done is being undone, or was. */
  readonly undoing: boolean;
  /** Whether it is undone by itself where it has to stop, or its plan does not keep what it promised. */
  readonly rollBackOnRegression: boolean;
  /** Why it paused by itself; null where it did not, or went on. */
  readonly halt: Halt | null;
  /** null: it did not end well, or nothing was in force after it. */
  readonly verification: Verification | null;
}

export interface LoadStatus {
  readonly state: "idle" | "running" | "done" | "failed";
  readonly id: string | null;
  readonly workloadName: string;
  readonly requestsPerSecond: number;
  /** Engine seconds asked for and passed. */
  readonly seconds: number;
  readonly elapsedSeconds: number;
  readonly sent: number;
  readonly finished: number;
  readonly failed: number;
  readonly p50Seconds: Sample;
  readonly p95Seconds: Sample;
  /** Mean label of the answers given back, known for held-out prompts of an emulated cluster only. */
  readonly quality: Sample;
  readonly error: string | null;
  /** What to know before trusting the figures: a driver that lagged or was itself the limit, failed requests. */
  readonly notes?: readonly string[];
}

/** How one thing of live traffic stands against the traffic that the plan in force was made for. */
export interface TrafficGauge {
  /** "rate", "input tokens", "score of llama-3.1-8b": lengths and scores of a model are those of the requests that reach it. */
  readonly name: string;
  readonly kind: "rate" | "tokens" | "score";
  /** Means; rates are requests per engine second. */
  readonly planned: number;
  /** In the last window in which it was seen; null: not yet. */
  readonly now: number | null;
  /** Distance of the distributions over the distance that counts as drift; null: too little was seen. */
  readonly level: number | null;
  readonly drifted: boolean;
}

export interface TrafficReport {
  readonly planId: string;
  /** Engine seconds of a window of traffic. */
  readonly windowSeconds: number;
  /** The window judged last; null before the first. */
  readonly last: { readonly at: string; readonly requests: number; readonly seconds: number } | null;
  readonly gauges: readonly TrafficGauge[];
  /** Since when anything has drifted without a break. */
  readonly driftedSince: string | null;
  /** Why drift led to no proposal; null where it led to one, or there is none. */
  readonly says: string | null;
}

export type ProposalState = "open" | "dismissed" | "superseded" | "applied";

/** A new plan for traffic that has drifted. Nothing is applied by it. */
export interface Proposal {
  readonly id: string;
  readonly clusterId: string;
  readonly createdAt: string;
  readonly state: ProposalState;
  /** Who or what closed it, and when; null while it is open. */
  readonly closed: { readonly at: string; readonly by: string } | null;
  /** The plan in force that it would replace. */
  readonly runningPlanId: string;
  readonly planId: string;
  readonly driftedSince: string;
  readonly drifted: readonly TrafficGauge[];
  /** Why the change is worth it, in a sentence. */
  readonly reason: string;
  /** Positive is better; latency by the plan's objective, null where the running plan does not keep up with the traffic. */
  readonly gain: { readonly latencySeconds: number | null; readonly quality: number; readonly costUsdPerHour: number };
  readonly change: { readonly started: number; readonly stopped: number; readonly seconds: number };
  /** What the figures rest on: what was seen, and what is modelled. */
  readonly basis: readonly string[];
}

export interface AuditLine {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

export type SolveAnswer =
  /** `notes`: as of an exploration. */
  | { readonly outcome: "plan"; readonly plan: Plan; readonly notes?: readonly string[] }
  | {
      readonly outcome: "infeasible";
      readonly kind: NoPlanKind;
      /** In operators' words; nothing is decided by it. */
      readonly reason: string;
      readonly bestQuality: number | null;
      readonly bestLatencySeconds: number | null;
      /** The smallest set of constraints that conflict; left out where it is not the constraints. */
      readonly conflict?: readonly ConflictingConstraint[];
    };

export type { PlanningProgress };

export type SolveEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: SolveAnswer };

/** `notes`: what could not be planned with, as where engines are given, a sentence each; left out: nothing. */
export type ExploreAnswer = Outcome<{ readonly exploration: ExplorationWire; readonly notes?: readonly string[] }>;

export type ExploreEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: ExploreAnswer };

/** What can be asked about a plan beside the plan itself. */
export const examinedKinds = ["prices", "sensitivity", "baselines"] as const;
export type ExaminedKind = (typeof examinedKinds)[number];

/** Latencies are the objective's; null where nothing keeps up or the time ran out. */
export type Examination =
  | {
      readonly kind: "prices";
      readonly latencySeconds: number;
      readonly qualityFloor: number | null;
      /** The same thresholds with GPUs more: one, and a node of them. */
      readonly gpus: readonly { readonly gpu: string; readonly more: number; readonly latencySeconds: number | null }[];
      /** The best plan with the floor so many points higher or lower, as far as it can be. */
      readonly quality: readonly { readonly points: number; readonly latencySeconds: number | null }[];
      /** Constraints without which the same thresholds would be faster. */
      readonly constraints: readonly { readonly says: string; readonly latencySeconds: number }[];
    }
  | { readonly kind: "sensitivity"; readonly cases: readonly SensitivityCase[] }
  | { readonly kind: "baselines"; readonly systems: readonly BaselineFigures[]; readonly refused: readonly RefusedBaseline[] };

/** A plan under something it took for granted and that turned out otherwise, beside the plan that would be made then. */
export interface SensitivityCase {
  readonly says: string;
  readonly keeps: boolean;
  readonly routingChanges: boolean;
  readonly deploymentChanges: boolean;
  readonly kept: { readonly latencySeconds: number | null; readonly quality: number };
  readonly anew: { readonly latencySeconds: number | null; readonly quality: number } | null;
}

/** A baseline on the planning prompts, simulated whole like the plan itself. */
export interface BaselineFigures {
  readonly name: string;
  /** Models, shapes and thresholds in one line. */
  readonly cascade: string;
  readonly quality: number;
  /** null where the floor's bound is not known for it. */
  readonly qualityLow: number | null;
  /** By the objective; null: does not keep up. */
  readonly latencySeconds: number | null;
  readonly gpus: number;
  readonly costUsdPerRequest: number;
}

export interface RefusedBaseline {
  readonly name: string;
  readonly reason: string;
}

export type ExamineEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly examination: Examination }
  | { readonly kind: "refused"; readonly message: string };

/** What became of something an operator asked for: done, or refused with a sentence that names the reason and the way out. */
export type Outcome<Done extends object> = ({ readonly ok: true } & Done) | { readonly ok: false; readonly message: string };

/** A GPU type a cluster can be described with. The price is a default the operator overrides; null: no list price was read. */
export interface GpuChoice {
  readonly id: string;
  readonly name: string;
  readonly memoryGb: number;
  readonly usdPerGpuHour: number | null;
}

/** Who bound their name to the plan's hash, and why. */
/** One plan approved on one cluster: on any other it has to be approved anew. */
export interface Approval {
  readonly planId: string;
  readonly clusterId: string;
  readonly actor: string;
  readonly at: string;
  readonly reason: string;
}

/** A kept plan with everything the studio knows of it. */
export interface KeptPlan {
  readonly plan: Plan;
  readonly summary: PlanSummary;
  readonly approvals: readonly Approval[];
}

/** Counts between edges: `counts[i]` values lie in [edges[i], edges[i + 1]). */
export interface Histogram {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

/** An engine profile fitted to the operator's own runs. */
export interface KeptProfile {
  readonly profile: EngineProfile;
  readonly createdAt: string;
  readonly actor: string;
}

export interface ProfileList {
  readonly builtIn: readonly EngineProfile[];
  /** Oldest first. */
  readonly own: readonly KeptProfile[];
  /** Id of the profile plans are made with. */
  readonly inUse: string;
}

/** What comes of holding predictions against an uploaded table: the table, predictions as they are made, and the errors, last. */
export type CheckEvent =
  | {
      readonly kind: "table";
      readonly name: string;
      /** Rows to predict. */
      readonly rows: number;
      readonly unsupported: readonly UnsupportedRow[];
      /** Rows that could not be read. */
      readonly bad: readonly RowProblem[];
    }
  | {
      readonly kind: "predicted";
      readonly predictions: readonly ServingPrediction[];
      /** Rows that turned out to be out of reach. */
      readonly unsupported: readonly UnsupportedRow[];
    }
  | { readonly kind: "checked"; readonly errors: readonly GroupErrors[] }
  | { readonly kind: "refused"; readonly message: string };

export type ProfileFit = Extract<ChosenFit, { outcome: "fitted" }>;

/** A fit as it stands, beside the profile it began from. */
export type FitState = { readonly name: string; readonly base: EngineProfile } & (
  | { readonly kind: "running" | "stopped" }
  | { readonly kind: "fitted"; readonly fit: ProfileFit }
  | { readonly kind: "refused"; readonly message: string }
);

export type { Canary, CanaryRequest, Capture, CaptureRequest, GatewayControls, Mirror, Panic, Shadow } from "./gatewayControls";
export type { RemainingCascade } from "./remainingCascade";
