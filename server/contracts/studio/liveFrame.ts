import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { PreviousPlan } from "../gateway/gatewayAdmin";
import type { GatewayControls } from "../gateway/gatewayControls";
import type { JudgeHealth } from "./judges";
import type { EngineReadings, Limit, TargetState } from "./watchedTarget";

/** null is a gap: the target gave no such value. It is drawn as a gap, never as zero. */
export type Sample = number | null;

export interface EngineFrame extends TargetState {
  readonly id: string;
  readonly model: string;
  /** What its metrics and its own word say it is; null before it was scraped. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** What the gateway makes of the engine; `unknown` while the gateway does not say or does not know it. */
  readonly health: "serving" | "draining" | "unhealthy" | "unknown";
  /** Since when the gateway makes that of it. */
  readonly healthSinceMs: number;
  readonly running: Sample;
  readonly waiting: Sample;
  readonly kvUse: Sample;
  readonly requestsPerSecond: Sample;
  readonly ttftP95Seconds: Sample;
  /** All that its metrics tell, and why the rest is missing; null while it is unreachable and in all frames but the newest. */
  readonly readings: EngineReadings | null;
  readonly gpus: readonly { readonly node: string; readonly index: number }[];
}

export interface GpuFrame {
  readonly node: string;
  readonly index: number;
  /** A part of a GPU that was divided (MIG), by its number and profile; null for a whole one. */
  readonly instance: { readonly id: string; readonly profile: string } | null;
  /** As the vendor calls it; empty where nothing says. */
  readonly name: string;
  /** Share of time, 0..1, and of what: some engine of the GPU computed, or only that any kernel ran, which is near 1 on any busy GPU. */
  readonly utilisation: Sample;
  readonly utilisationOf: "graphics engine" | "any kernel" | null;
  readonly memoryUsedBytes: Sample;
  readonly memoryTotalBytes: Sample;
  readonly powerWatts: Sample;
  readonly temperatureCelsius: Sample;
  /** Kubernetes containers that have it; several where it is shared. */
  readonly containers: readonly { readonly namespace: string; readonly pod: string; readonly container: string }[];
  readonly engineId: string | null;
  /** Name of what tells of it. */
  readonly source: string;
}

/** What tells of GPUs. */
export interface GpuSourceFrame extends TargetState {
  readonly kind: "dcgm-exporter" | "nvidia-smi";
  /** Its address, or that of this host's own tool. */
  readonly name: string;
}

/** Measured at the gateway over the last window, beside what the plan promised. */
export interface StageFrame {
  readonly model: string;
  readonly queued: Sample;
  readonly inFlight: Sample;
  readonly share: Sample;
  readonly escalated: Sample;
  readonly p50Seconds: Sample;
  readonly p95Seconds: Sample;
  readonly p99Seconds: Sample;
  readonly meanJudgedScore: Sample;
}

/** Of a model's engines together. */
export type LatencyName = `${"ttft" | "tpot"}P${50 | 95 | 99}Seconds`;

/** Of a model over all its engines that are fresh, from their histograms added up; null where one of them has none or other buckets. */
export interface ModelFrame extends Readonly<Record<LatencyName, Sample>> {
  readonly model: string;
  /** Those of them that are limits. */
  readonly limits: Partial<Readonly<Record<LatencyName, Limit>>>;
}

/** Answered requests of a window, of the plan and policy in force. Seconds are engine seconds. */
export interface MeasuredFrame {
  readonly requests: number;
  readonly windowSeconds: number;
  /** End to end. */
  readonly p50Seconds: Sample;
  readonly p95Seconds: Sample;
  readonly p99Seconds: Sample;
  readonly meanQuality: Sample;
}

/** What was measured in the range of time that a page shows. */
export interface MeasuredRange {
  /** Its window is the range, or the part of it that `cutBy` leaves. */
  readonly measured: MeasuredFrame;
  /** Parallel to the gateway's stages. */
  readonly stages: RecentFrame["stages"];
  /** Requests whose answer has a known label: those that the mean quality is of. */
  readonly labelled: number;
  /** Why the window is shorter than the range: a load run, a plan or turned knobs began later, or older requests are kept no more. null: it is not. */
  readonly cutBy: "began" | "kept" | null;
}

/** The last half minute, for charts: it moves with what happens, where the measuring window is steady. */
export interface RecentFrame extends MeasuredFrame {
  readonly ttftP95Seconds: Sample;
  readonly overheadP95Seconds: Sample;
  /** Parallel to the gateway's stages. */
  readonly stages: readonly Pick<StageFrame, "share" | "escalated" | "p50Seconds" | "p95Seconds" | "p99Seconds" | "meanJudgedScore">[];
}

/** What the gateway was told to do, as last known: also while it does not answer. */
export interface RoutingFrame {
  /** Of the configuration, to change it only as it was seen. */
  readonly etag: string;
  readonly planId: string;
  readonly policyHash: string;
  /** The knobs' values and the ranges they were approved in among it. */
  readonly policy: PolicyDocument;
  /** null: a gateway without controls. */
  readonly controls: GatewayControls | null;
  /** What a rollback goes back to; null: there is none. Left out where the gateway does not say. */
  readonly previous?: PreviousPlan | null;
  /** Stages of the cascade of which no engine takes work, and since when, in Unix milliseconds. Left out where the gateway does not say. */
  readonly lostStages?: readonly { readonly model: string; readonly sinceMs: number }[];
}

/** A model the gateway has engines of. */
export interface ServingModel {
  readonly model: string;
  /** Those that take work. */
  readonly engines: number;
}

export interface LiveFrame {
  readonly atMs: number;
  readonly clusterId: string;
  readonly planId: string | null;
  readonly timeScale: number;
  readonly engines: readonly EngineFrame[];
  readonly gpus: readonly GpuFrame[];
  /** Where `gpus` come from, each with how it stands; empty where nothing tells of them. */
  readonly gpuSources: readonly GpuSourceFrame[];
  readonly gateway: {
    readonly state: "fresh" | "stale" | "unreachable";
    /** Since when it is in this state. */
    readonly sinceMs: number;
    /** Since it last answered; 0 before it ever did. */
    readonly ageSeconds: number;
    readonly reason: string;
    /** Answered without an error. */
    readonly requestsPerSecond: Sample;
    /** Taken in and answered with an error. */
    readonly errorsPerSecond: Sample;
    /** Turned away at the door for what they are: no key, an unserved model, a bad body. Of an older gateway those that were shed too. */
    readonly refusedPerSecond: Sample;
    /** Turned away because there was no room or no engine for them; null where the gateway is too old to say. */
    readonly shedPerSecond: Sample;
    /** Answers accepted without a judged score, which the quality floor does not cover. */
    readonly unjudgedPerSecond: Sample;
    /** null: nobody judges, or the gateway does not say. */
    readonly judge: JudgeHealth | null;
    /** Requests that wait for whichever model has room first, under policies that choose models then: no stage counts them. */
    readonly queuedForAny: Sample;
    readonly ttftP95Seconds: Sample;
    /** The gateway's own time: neither queue nor engine nor judge. */
    readonly overheadP95Seconds: Sample;
    readonly stages: readonly StageFrame[];
    /** Of the newest frame only; null in those before, and while no configuration was read. */
    readonly routing: RoutingFrame | null;
  };
  /** End to end over the measuring window (since load began or the last 5 minutes, whichever is shorter). */
  readonly measured: MeasuredFrame;
  readonly recent: RecentFrame;
  /** Each model that engines are watched of. */
  readonly models: readonly ModelFrame[];
}
