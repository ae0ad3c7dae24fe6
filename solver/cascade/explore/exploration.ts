import type { JudgeVariation } from "@/solver/judging/judgeTime";
import type { StartBelow } from "@/solver/plan/directStart";
import type { NoPlanKind, Objective } from "@/solver/plan/plan";

/**
 * One way to route: which models form the cascade, at which thresholds, and what follows from that on the planning sample.
 * Everything here is independent of how many GPUs there are.
 */
export interface Routing {
  /** Indices into `Exploration.models`, in the order requests meet them. */
  readonly stages: readonly number[];
  /** Integers 0..100, one fewer than stages. */
  readonly thresholds: readonly number[];
  /** Requests start at the first stage whose router score is at least the stage's, or at the last where there is none; 0: all at the first. */
  readonly startBelow: StartBelow;
  /** Mean label of accepted answers, 0..100. */
  readonly quality: number;
  /** Lower confidence bound of `quality` on fresh traffic. */
  readonly qualityLow: number;
  /** Share of requests that visit each stage; the first is 1 unless some start later. */
  readonly share: readonly number[];
  /** Share of requests that start at each stage; left out where all start at the first. */
  readonly startShare?: readonly number[];
  /** Judge calls for each request, on average; left out where every answer of a stage with a threshold above 0 is judged. */
  readonly judgements?: number;
  /** Positions of the hosted stages, which take no GPUs, and their money for a request on average; left out: no stage is hosted. */
  readonly hosted?: { readonly stages: readonly number[]; readonly usdPerRequest: number };
  /** Rows of tables: of the stages, a judge's engine and peers; left out: of the stages, and of the judge's engine where it judges. */
  readonly rows?: number;
}

/**
 * All routings evaluated for one workload, rate and cluster, with their latency tables: enough to choose a plan for any
 * floor, budget and GPU count without simulating again, in a worker or in the browser.
 */
export interface Exploration {
  readonly models: readonly string[];
  readonly requestsPerSecond: number;
  readonly maxGpus: number;
  /** Per model: GPUs of its smallest replica; 0 for a model that fits on no replica here and is in no routing. */
  readonly leastGpus: readonly number[];
  /** With several GPU types: the mean, as GPUs are counted in the cluster's own mix here. */
  readonly usdPerGpuHour: number;
  /** With an `engine`, the judge is deployed too: its row of tables and GPUs follows those of the stages, and it has no fixed time. */
  readonly judge: {
    readonly secondsPerCall: number;
    readonly usdPerCall: number;
    readonly variation?: JudgeVariation | undefined;
    readonly engine?: object | undefined;
  };
  readonly routings: readonly Routing[];
  /**
   * p95 seconds of a stage at f GPUs: `stageP95[tableOffset[r] + s * maxGpus + (f - 1)]` for stage position s of routing
   * r. Infinity where no shape fits or none sustains the load. Non-increasing in f.
   */
  readonly stageP95: Float32Array;
  readonly tableOffset: Int32Array;
  /**
   * End-to-end p95 of routing r on given stage p95s: `endToEndJudgeSeconds[r] + sum over s of endToEndWeight[i + s] * p95[s]`, with
   * i = tableOffset[r] / maxGpus. See `composeEndToEnd`.
   */
  readonly endToEndWeight: Float32Array;
  /** Seconds of judging within the end-to-end p95, per routing. */
  readonly endToEndJudgeSeconds: Float32Array;
  /** Confidence at which `qualityLow` holds. */
  readonly qualityConfidence: number;
}

/** A routing with GPUs given to its stages. */
export interface Candidate {
  readonly routing: number;
  /** GPUs per stage, and of the judge's engine after them. */
  readonly gpus: readonly number[];
  readonly gpusTotal: number;
  /** Objective latency by the tables (end to end or largest stage, as the objective says). Infinity: does not sustain the load. */
  readonly latencySeconds: number;
  readonly costUsdPerRequest: number;
  readonly quality: number;
  readonly qualityLow: number;
}

/** The values of the knobs of the Plan page. */
export interface Knobs
  extends Pick<Objective, "kind" | "latency" | "qualityFloor" | "qualityConfidence" | "latencyBudgetSeconds" | "slack" | "maxGpus"> {
  /** Latency from which the slack counts where several kinds of policies are compared; left out: that of the fastest candidate here. */
  readonly slackFromSeconds?: number;
}

/** The answer to one setting of the knobs. */
export interface Choice {
  /** Best candidate, or null with the reason and the reachable values. */
  readonly chosen: Candidate | null;
  readonly infeasible: {
    readonly kind: NoPlanKind;
    readonly reason: string;
    readonly bestQuality: number | null;
    readonly bestLatencySeconds: number | null;
  } | null;
  /** The latency that the slack allows and the fastest candidate on all GPUs that it is counted from; null where no slack applies. */
  readonly slack: { readonly limitSeconds: number; readonly fastest: Candidate } | null;
  /** What limits the chosen candidate, in a sentence; null when nothing does. */
  readonly binds: string | null;
  /** Every routing at its best allocation for this GPU count, index = routing; the chosen one on its own GPUs. */
  readonly candidates: readonly Candidate[];
  /** Indices into `candidates` of the Pareto set over (latency, quality), by rising quality. */
  readonly frontier: readonly number[];
}
