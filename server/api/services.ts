import type { Rearrive } from "@/server/contracts/arrivals";
import type {
  CapacityCurve,
  CapacityRequest,
  DeclaredWorkflow,
  JustInTimeRequest,
  ReadWorkflow,
  TryRunRequest,
} from "@/server/contracts/declaredWorkflows";
import type { SeenRounds } from "@/server/contracts/seenRounds";
import type { SeriesRange } from "@/server/contracts/seriesRange";
import type {
  Application,
  Approval,
  AuditLine,
  Capture,
  CheckEvent,
  ClusterDetail,
  ClusterSummary,
  ExamineEvent,
  ExploreEvent,
  Finding,
  FitState,
  GeneratedFile,
  GpuChoice,
  JournalLine,
  KeptPlan,
  LearntWorkflows,
  LiveEvent,
  LiveFrame,
  LiveRows,
  LoadStatus,
  Outcome,
  PlanDiff,
  PlanInForce,
  PlanSummary,
  ProfileList,
  PromiseReport,
  Proposal,
  RehearsedStep,
  RerouteRequest,
  RollOutDip,
  ServingModel,
  SolveEvent,
  TrafficToPlan,
  TriedConnection,
  TriedEndpoint,
  TryEvent,
  WaitedRecords,
  WorkloadComparison,
  WorkloadDetail,
  WorkloadSummary,
  WorkloadTies,
  WorkloadUses,
} from "@/server/contracts/studio";
import type { WorkflowRun } from "@/server/contracts/workflowRuns";
import type { ExportFormat } from "@/server/fleet/exportPlan";
import type { UserGpu, UserModel } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { ModelCard } from "@/solver/hardware/modelCard";
import type { BatchService, EnsembleService } from "./ensembleServices";
import type {
  ApplyRequest,
  ApproveRequest,
  AttachRequest,
  CanaryOrder,
  CaptureOrder,
  CardKind,
  CheckRequest,
  ClusterDescription,
  ExamineRequest,
  ExploreRequest,
  FitRequest,
  KnobsOrder,
  LiveRangeRequest,
  LiveStreamRequest,
  LiveTableRequest,
  LoadRequest,
  MirrorOrder,
  PanicOrder,
  RollBackOrder,
  RollbackRequest,
  ShadowOrder,
  SolveRequest,
  TryEndpointsRequest,
  WorkloadImport,
} from "./inputs";
import type { ArtefactService, LabService } from "./labServices";
import type { ArrivalsService, ProfileService, PromptService, ScheduleService, TrustService } from "./profilingServices";

/** Signed-in person in whose name something is done. */
export type Actor = string;

export interface WorkloadService {
  list(): readonly WorkloadSummary[];
  /** null: no such workload. */
  get(id: string): { readonly summary: WorkloadSummary; readonly detail: WorkloadDetail } | null;
  /** Joins uploaded tables into a workload; refused with file, line and field, and then nothing is stored. */
  importUploads(request: WorkloadImport, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Takes an uploaded workload as `write` gives it; refused with the line that is damaged, and then nothing is stored. */
  importLines(uploadId: string, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** The same prompts and outcomes with other arrivals: a new version, or one for each segment of the day. */
  rearrive(request: Rearrive, actor: Actor): Promise<Outcome<{ readonly ids: readonly string[] }>>;
  /** null: one of them is not here. */
  compare(a: string, b: string): WorkloadComparison | null;
  /** null: no such workload. */
  ties(id: string): WorkloadTies | null;
  uses(): WorkloadUses;
  /** A workload as lines of text; null: no such workload. */
  write(id: string): { readonly name: string; readonly lines: Iterable<string> } | null;
  remove(id: string, actor: Actor): Outcome<object>;
}

/** Every card there is; `own` ones were added by a user. */
export interface CardList {
  readonly models: readonly (ModelCard & { readonly own: boolean })[];
  readonly gpus: readonly (GpuCard & { readonly own: boolean; readonly ownPrice: boolean })[];
  /** Why the user's own cards cannot be used, in one sentence; null when they can, or there are none. */
  readonly problem: string | null;
}

/** Model and GPU cards: the shipped ones and the user's. */
export interface CardService {
  list(): CardList;
  /** What a pasted `config.json` of Hugging Face, or a model card of this studio, says; nothing is kept. */
  readModel(text: string): Outcome<{ readonly model: UserModel; readonly notes: readonly string[] }>;
  addModel(model: UserModel, actor: Actor): Outcome<object>;
  addGpu(gpu: UserGpu, actor: Actor): Outcome<object>;
  /** Refused while a workload names the model or a cluster the GPU. */
  remove(kind: CardKind, id: string, actor: Actor): Outcome<object>;
  /** null takes the list price again. */
  setPrice(gpu: string, usdPerGpuHour: number | null, actor: Actor): Outcome<object>;
}

/** A table taken from a cluster. */
export interface LiveTable {
  /** null: there was not one row to be made. */
  readonly uploadId: string | null;
  readonly live: LiveRows;
}

/** Engine profiles: how far their predictions are from measured runs, fitting them, and which one plans are made with. */
export interface CalibrationService {
  list(): ProfileList;
  /** Makes a table of runs, as an uploaded one, of what a cluster's engines told lately. */
  takeLive(request: LiveTableRequest): Promise<Outcome<LiveTable>>;
  /** What a table was made of; null where it was not taken from a cluster, or not lately. */
  liveRows(uploadId: string): LiveRows | null;
  /** An uploaded table as it stands; null when it is not kept any more. */
  table(uploadId: string): Promise<{ readonly name: string; readonly text: string } | null>;
  /** Holds predictions against an uploaded table of runs; ends by itself or with the signal. */
  check(request: CheckRequest, signal: AbortSignal): AsyncIterable<CheckEvent>;
  /** Begins to fit a profile to the runs of one engine in an uploaded table; `fit` tells how it goes, under its id. */
  startFit(request: FitRequest): Promise<Outcome<{ readonly id: string }>>;
  /** null: no such fit among the last ones of this run of the studio. */
  fit(id: string): FitState | null;
  stopFit(id: string): Outcome<object>;
  keep(profile: EngineProfile, actor: Actor): Outcome<{ readonly id: string }>;
  /** Makes plans with a profile from now on; kept plans stay as they are. */
  use(id: string, actor: Actor): Outcome<object>;
  /** Refused while plans are made with it. */
  remove(id: string, actor: Actor): Outcome<object>;
}

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
  engineLog(clusterId: string, engineId: string): Promise<Outcome<{ readonly text: string }>>;
}

export interface PlanService {
  /** Everything the Plan page's sliders need to choose a plan without asking again, telling what the planner is at on the way. */
  explore(request: ExploreRequest, signal: AbortSignal): AsyncIterable<ExploreEvent>;
  /** A plan, telling what the planner is at on the way; it stops when the signal aborts. */
  solve(request: SolveRequest, signal: AbortSignal): AsyncIterable<SolveEvent>;
  /** One question about the plan that a request leads to. Asked again it is answered from what was found. */
  examine(request: ExamineRequest, signal: AbortSignal): AsyncIterable<ExamineEvent>;
  /** Keeps a plan that `solve` found in this run of the studio. */
  keep(planId: string, actor: Actor): Outcome<{ readonly id: string }>;
  list(clusterId: string | null): readonly PlanSummary[];
  get(planId: string): KeptPlan | null;
  diff(planId: string, clusterId: string): Promise<Outcome<{ readonly diff: PlanDiff }>>;
  /** What requests feel while the roll-out runs, simulated; it stops when the signal aborts. */
  dip(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly dip: RollOutDip }>>;
  /** What would be put down for engines and gateway, beside what stands there now. */
  generated(planId: string, clusterId: string): Promise<Outcome<{ readonly files: readonly GeneratedFile[] }>>;
  /** The steps of the roll-out with every write withheld. */
  rehearse(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly steps: readonly RehearsedStep[] }>>;
  /** A plan as files for somebody else's hands; refused for a format that the cluster's connection cannot fill in. */
  export(planId: string, clusterId: string, format: ExportFormat): Outcome<{ readonly name: string; readonly text: string }>;
  approve(request: ApproveRequest, actor: Actor): Outcome<{ readonly approval: Approval }>;
  /** Keeps a plan on the engines of another under another policy; its figures stay the other's, and its notes say so. */
  reroute(request: RerouteRequest, actor: Actor): Outcome<{ readonly id: string }>;
  /** Keeps a plan on the engines of another that runs declared workflows just in time; its figures stay the other's, and its notes say so. */
  justInTime(request: JustInTimeRequest, actor: Actor): Outcome<{ readonly id: string }>;
  /** Takes a plan document from elsewhere: schema and hashes must hold. */
  importDocument(document: unknown, actor: Actor): Outcome<{ readonly id: string }>;
}

export interface ApplicationService {
  start(request: ApplyRequest, actor: Actor): Promise<Outcome<{ readonly application: Application }>>;
  /** Puts an earlier plan into force again. */
  rollback(request: RollbackRequest, actor: Actor): Promise<Outcome<{ readonly application: Application }>>;
  pause(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  resume(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  abort(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  get(id: string): Application | null;
  list(clusterId: string): readonly Application[];
  /** What it did, oldest first; null: no such application. */
  journal(id: string): readonly JournalLine[] | null;
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
  /** Which plan was in force when, oldest first. */
  plans(clusterId: string, fromMs: number, toMs: number): readonly PlanInForce[];
}

export interface LoadService {
  start(request: LoadRequest, actor: Actor): Outcome<{ readonly status: LoadStatus }>;
  /** Sends no more and cuts what is in flight. */
  stop(actor: Actor): Promise<LoadStatus>;
  status(): LoadStatus;
}

/**
 * What an operator does to live traffic at a cluster's gateway, in their name. A gateway that does not answer within seconds, and one that
 * refuses, is an outcome with its sentence. While a plan is applied, canary, knobs and rollback are refused: the next step would undo them.
 */
export interface GatewayService {
  /** Models the gateway has engines of, as last known: it is asked only where it was never heard. */
  models(clusterId: string): Promise<Outcome<{ readonly models: readonly ServingModel[] }>>;
  panic(clusterId: string, order: PanicOrder, actor: Actor): Promise<Outcome<object>>;
  liftPanic(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Refused for a plan that is not approved. */
  startCanary(clusterId: string, order: CanaryOrder, actor: Actor): Promise<Outcome<object>>;
  stopCanary(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Any kept plan: a shadow acts on nothing. */
  startShadow(clusterId: string, order: ShadowOrder, actor: Actor): Promise<Outcome<object>>;
  endShadow(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  startMirror(clusterId: string, order: MirrorOrder, actor: Actor): Promise<Outcome<object>>;
  endMirror(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** What is kept of live traffic, asked of the gateway now. */
  capture(clusterId: string): Promise<Outcome<{ readonly capture: Capture }>>;
  startCapture(clusterId: string, order: CaptureOrder, actor: Actor): Promise<Outcome<object>>;
  /** What is kept stays until its time is over. */
  endCapture(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** Ends it where it runs, and deletes all that is kept. */
  eraseCapture(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
  /** The hash of the policy as turned; null where the gateway does not say it. */
  turnKnobs(clusterId: string, order: KnobsOrder, actor: Actor): Promise<Outcome<{ readonly policyHash: string | null }>>;
  rollBack(clusterId: string, order: RollBackOrder, actor: Actor): Promise<Outcome<object>>;
  /** All that it learnt of workflows; it begins anew with the next call. */
  forgetWorkflows(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>>;
}

/** What gateways learn of the applications that call them. */
export interface WorkflowsService {
  /** Refused where the gateway does not answer. */
  of(clusterId: string): Promise<Outcome<{ readonly learnt: LearntWorkflows }>>;
  /** By the gateway's newest decision records that the studio holds, since the gateway was started last. */
  waited(clusterId: string): WaitedRecords;
  /** What its gateway did in its latest rounds. */
  rounds(clusterId: string): Promise<Outcome<{ readonly seen: SeenRounds }>>;
  /** Has the gateway run a workflow of the plan in force, as any client would without a key; a run that failed is told as one. */
  tryRun(request: TryRunRequest, signal: AbortSignal): Promise<Outcome<{ readonly run: WorkflowRun }>>;
}

/** Workflows that are declared in the studio, by name. Plans have copies of their own. */
export interface DeclaredWorkflowService {
  /** By name. */
  list(): readonly DeclaredWorkflow[];
  /** What a document or a graph of another tool comes to; nothing is kept. Refused with the field and what is wrong with it. */
  read(text: string): Outcome<{ readonly read: ReadWorkflow }>;
  /** Keeps what `read` makes of a text as the next version of its name; `again`: the newest is the same. */
  keep(text: string, actor: Actor): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }>;
  /** `says`: what goes on running it. */
  remove(name: string, actor: Actor): Outcome<{ readonly says: string }>;
  /** Simulated in a thread, in seconds; it ends when the signal aborts. */
  capacity(request: CapacityRequest, signal: AbortSignal): Promise<Outcome<{ readonly curve: CapacityCurve }>>;
}

/** Plans proposed for traffic that has drifted. */
export interface ProposalService {
  /** Newest first. */
  list(clusterId: string): readonly Proposal[];
  get(id: string): Proposal | null;
  /** Refused when it waits for no answer any more. */
  dismiss(id: string, actor: Actor): Outcome<object>;
}

/** What plans in force promised beside what is measured. */
export interface PromiseService {
  /** null: no plan is in force, its workload is not here, or nothing was measured yet. */
  report(clusterId: string): PromiseReport | null;
  /** What to plan for so that it is the traffic of now; a workload made of what was seen is kept. Nothing is planned or applied by it. */
  toPlan(clusterId: string): Outcome<{ readonly traffic: TrafficToPlan }>;
}

/** What the studio can do. Routers translate HTTP into these calls and nothing more. */
export interface Services {
  readonly workloads: WorkloadService;
  readonly clusters: ClusterService;
  readonly attach: AttachService;
  readonly plans: PlanService;
  readonly applications: ApplicationService;
  readonly proposals: ProposalService;
  readonly promises: PromiseService;
  readonly live: LiveService;
  readonly gateway: GatewayService;
  readonly workflows: WorkflowsService;
  readonly declaredWorkflows: DeclaredWorkflowService;
  readonly ensembles: EnsembleService;
  readonly batches: BatchService;
  readonly load: LoadService;
  readonly cards: CardService;
  readonly calibrations: CalibrationService;
  readonly prompts: PromptService;
  readonly profiles: ProfileService;
  readonly trust: TrustService;
  readonly arrivals: ArrivalsService;
  readonly schedules: ScheduleService;
  readonly artefacts: ArtefactService;
  readonly lab: LabService;
  readonly audit: { list(limit: number): readonly AuditLine[] };
  readonly sessions: { signOut(sessionHash: string): void };
}
