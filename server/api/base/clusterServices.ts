import type {
  ClusterDetail,
  ClusterJudge,
  ClusterSummary,
  Finding,
  GpuChoice,
  JudgeTest,
  LiveEvent,
  LiveFrame,
  LoadStatus,
  MeasuredRange,
  Outcome,
  PlanInForce,
  TriedConnection,
  TriedEndpoint,
  TryEvent,
} from "@/server/contracts/studio";
import type { SeriesRange } from "@/server/contracts/studio/seriesRange";
import type { Actor } from "./actor";
import type {
  AttachRequest,
  ClusterDescription,
  LiveRangeRequest,
  LiveStreamRequest,
  LoadRequest,
  MeasuredRangeRequest,
  TryEndpointsRequest,
  TryJudgeRequest,
} from "./inputs";

export interface ClusterService {
  list(): readonly ClusterSummary[];
  describe(request: ClusterDescription, actor: Actor): Outcome<{ readonly id: string }>;
  gpus(): readonly GpuChoice[];
}

/** Clusters that the studio is connected to: tried, attached, changed and let go of. No answer holds a secret. */
export interface AttachService {
  /** Absolute path of the folder in which keys and authorities are read as files; null: none was named when the studio was started. */
  secretsFolder(): string | null;
  /** Reads pasted addresses, or takes endpoints as they are, and tries each, told as soon as it is known; ends by itself or with the signal. */
  tryEndpoints(request: TryEndpointsRequest, signal: AbortSignal): AsyncIterable<TryEvent>;
  /** Reads a connection, in YAML or JSON, and looks through it once; nothing is kept. */
  tryConnection(text: string): Promise<TriedConnection>;
  /** Under the name of one that is only described, as one that was let go of is, it becomes that one: its plans, engines and ports are found again. */
  attach(request: AttachRequest, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Refused while a plan is applied there. */
  change(clusterId: string, connection: unknown, actor: Actor): Promise<Outcome<object>>;
  testConnection(
    clusterId: string,
  ): Promise<Outcome<{ readonly findings: readonly Finding[]; readonly endpoints: readonly TriedEndpoint[] }>>;
  /** null: no such cluster, or it is only described. */
  detail(clusterId: string): ClusterDetail | null;
  /** Lets go of a cluster whose name is given once more: its engines run on, its plans, history and audit stay. Refused while a plan is applied there. */
  detach(clusterId: string, name: string, actor: Actor): Promise<Outcome<object>>;
  /** The judge outside of a cluster's plans and what is known of its time; null: no such cluster. */
  judge(clusterId: string): ClusterJudge | null;
  /** Calls a judge as the gateway would; nothing is attached. */
  tryJudge(judge: TryJudgeRequest["judge"], signal: AbortSignal): Promise<JudgeTest>;
  /** Tests the judge of a cluster again. */
  measureJudge(clusterId: string): Promise<Outcome<{ readonly test: JudgeTest }>>;
  /** Takes this mean time of a judge call for plans; null: as measured. */
  enterJudgeTime(clusterId: string, secondsPerCall: number | null, actor: Actor): Outcome<object>;
  engineLog(clusterId: string, engineId: string): Promise<Outcome<{ readonly text: string }>>;
}

export interface LiveService {
  /** Frames of the last minutes after `afterMs`, then each new one until the signal aborts. */
  follow(options: { readonly clusterId: string; readonly afterMs: number; readonly signal: AbortSignal }): AsyncIterable<LiveFrame>;
  /** All that a tab shows of a cluster's present; ids are times of frames, for a tab that comes back. */
  stream(request: LiveStreamRequest, signal: AbortSignal): AsyncIterable<{ readonly id: string; readonly event: LiveEvent }>;
  /** Engines, GPUs, stages and the gateway of which something is known in a range of time. */
  subjects(clusterId: string, fromMs: number, toMs: number): Promise<readonly string[]>;
  /** Series of a range of time, whether the studio kept them or a Prometheus did. */
  range(clusterId: string, request: LiveRangeRequest): Promise<SeriesRange>;
  /** Latency, quality and stages over a range of time; null where nothing is seen of the cluster. */
  measured(clusterId: string, range: MeasuredRangeRequest): MeasuredRange | null;
  /** Which plan was in force when, oldest first. */
  plans(clusterId: string, fromMs: number, toMs: number): readonly PlanInForce[];
}

export interface LoadService {
  start(request: LoadRequest, actor: Actor): Outcome<{ readonly status: LoadStatus }>;
  /** Sends no more and cuts what is in flight. */
  stop(actor: Actor): Promise<LoadStatus>;
  status(): LoadStatus;
}
