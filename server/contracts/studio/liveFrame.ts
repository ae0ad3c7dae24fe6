import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { GatewayStatus, PreviousPlan } from "../gateway/gatewayAdmin";
import type { GatewayControls } from "../gateway/gatewayControls";
import type { JudgeHealth } from "./judges";
import type { EngineReadings, Limit, TargetState } from "./watchedTarget";

/** null is a gap: the target gave no such value. It is drawn as a gap, never as zero. */
export type Sample = number | null;

export interface EngineFrame extends TargetState {
  readonly id: string;
  readonly model: string;
  /** Type and version from its metrics and its own statement; null before it was scraped. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** The gateway's view of the engine; `unknown` while the gateway does not answer or does not know it. */
  readonly health: "serving" | "draining" | "unhealthy" | "unknown";
  /** Since when the gateway has this view. */
  readonly healthSinceMs: number;
  readonly running: Sample;
  readonly waiting: Sample;
  readonly kvUse: Sample;
  readonly requestsPerSecond: Sample;
  readonly ttftP95Seconds: Sample;
  /** All values of its metrics, and why the rest is missing; null while it is unreachable and in all frames but the newest. */
  readonly readings: EngineReadings | null;
  readonly gpus: readonly { readonly node: string; readonly index: number }[];
}

export interface GpuFrame {
  readonly node: string;
  readonly index: number;
  /** A partition of a divided GPU (MIG), by its number and profile; null for a whole one. */
  readonly instance: { readonly id: string; readonly profile: string } | null;
  /** The vendor's name; empty if no source reports it. */
  readonly name: string;
  /** Share of time, 0..1, and of what: an engine of the GPU computed, or only that any kernel ran, which is near 1 on any busy GPU. */
  readonly utilisation: Sample;
  readonly utilisationOf: "graphics engine" | "any kernel" | null;
  readonly memoryUsedBytes: Sample;
  readonly memoryTotalBytes: Sample;
  readonly powerWatts: Sample;
  readonly temperatureCelsius: Sample;
  /** Kubernetes containers that have it; several if it is shared. */
  readonly containers: readonly { readonly namespace: string; readonly pod: string; readonly container: string }[];
  readonly engineId: string | null;
  /** Name of its source. */
  readonly source: string;
}

/** A source of GPU figures. */
export interface GpuSourceFrame extends TargetState {
  readonly kind: "dcgm-exporter" | "nvidia-smi";
  /** Its address, or the name of this host's own tool. */
  readonly name: string;
}

/** Measured at the gateway over the last window, with the plan's prediction. */
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

/** Latencies over a model's engines together. */
export type LatencyName = `${"ttft" | "tpot"}P${50 | 95 | 99}Seconds`;

/**
 * A model's latencies over all its engines that are fresh, from the sum of their histograms; null if one of them has none or other buckets.
 */
export interface ModelFrame extends Readonly<Record<LatencyName, Sample>> {
  readonly model: string;
  /** Those that are limits. */
  readonly limits: Partial<Readonly<Record<LatencyName, Limit>>>;
}

/** Answered requests of a window under the plan and policy in force. Seconds are engine seconds. */
export interface MeasuredFrame {
  readonly requests: number;
  readonly windowSeconds: number;
  /** End to end. */
  readonly p50Seconds: Sample;
  readonly p95Seconds: Sample;
  readonly p99Seconds: Sample;
  readonly meanQuality: Sample;
}

/** Measurements in the time range that a page shows. */
export interface MeasuredRange {
  /** Its window is the range, or the rest of it after `cutBy`. */
  readonly measured: MeasuredFrame;
  /** Parallel to the gateway's stages. */
  readonly stages: RecentFrame["stages"];
  /** Requests whose answer has a known label: the basis of the mean quality. */
  readonly labelled: number;
  /**
   * Why the window is shorter than the range: a load run, a plan or changed knobs began later, or older requests are no longer stored.
   * null: it is not.
   */
  readonly cutBy: "began" | "kept" | null;
}

/** The last half minute, for charts: it follows current events, while the measuring window is steady. */
export interface RecentFrame extends MeasuredFrame {
  readonly ttftP95Seconds: Sample;
  readonly overheadP95Seconds: Sample;
  /** Parallel to the gateway's stages. */
  readonly stages: readonly Pick<StageFrame, "share" | "escalated" | "p50Seconds" | "p95Seconds" | "p99Seconds" | "meanJudgedScore">[];
}

/** The gateway's configuration, as last known: also while it does not answer. */
export interface RoutingFrame {
  /** ETag of the configuration, so that only the version that was seen is changed. */
  readonly etag: string;
  readonly planId: string;
  readonly policyHash: string;
  /** Includes the knobs' values and their approved ranges. */
  readonly policy: PolicyDocument;
  /** null: a gateway without controls. */
  readonly controls: GatewayControls | null;
  /** The plan that a rollback restores; null: there is none. Absent if the gateway does not report it. */
  readonly previous?: PreviousPlan | null;
  /**
   * Stages of the cascade without an engine that takes work, and since when, in Unix milliseconds. Absent if the gateway does not report
   * them.
   */
  readonly lostStages?: readonly { readonly model: string; readonly sinceMs: number }[];
  /** Thresholds that overload has lowered. Absent if there are none. */
  readonly grace?: NonNullable<GatewayStatus["grace"]>;
  /** Stages whose gate could not score their latest answers. Absent if there are none. */
  readonly unscoredStages?: NonNullable<GatewayStatus["unscoredStages"]>;
}

/** A model for which the gateway has engines. */
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
  /** Sources of `gpus`, each with its state; empty if there are none. */
  readonly gpuSources: readonly GpuSourceFrame[];
  readonly gateway: {
    readonly state: "fresh" | "stale" | "unreachable";
    /** Since when it is in this state. */
    readonly sinceMs: number;
    /** Since its last answer; 0 before the first. */
    readonly ageSeconds: number;
    readonly reason: string;
    /** Answered without an error. */
    readonly requestsPerSecond: Sample;
    /** Admitted and answered with an error. */
    readonly errorsPerSecond: Sample;
    /** Rejected because of the request itself: no key, an unserved model, a bad body. For an older gateway it includes shed requests. */
    readonly refusedPerSecond: Sample;
    /** Rejected for lack of room or of an engine; null if the gateway is too old to report it. */
    readonly shedPerSecond: Sample;
    /** Answers accepted without a judged score, which the quality floor does not cover. */
    readonly unjudgedPerSecond: Sample;
    /** null: there is no judge, or the gateway does not report it. */
    readonly judge: JudgeHealth | null;
    /** Requests that wait for the first model with room, under policies that choose models at dispatch: no stage counts them. */
    readonly queuedForAny: Sample;
    readonly ttftP95Seconds: Sample;
    /** The gateway's own time: without queue, engine and judge. */
    readonly overheadP95Seconds: Sample;
    readonly stages: readonly StageFrame[];
    /** In the newest frame only; null in earlier ones, and while no configuration was read. */
    readonly routing: RoutingFrame | null;
  };
  /** End to end over the measuring window (since load began or the last 5 minutes, whichever is shorter). */
  readonly measured: MeasuredFrame;
  readonly recent: RecentFrame;
  /** Each model with watched engines. */
  readonly models: readonly ModelFrame[];
}
