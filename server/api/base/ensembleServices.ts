import type {
  AnswerSampleSummary,
  Batch,
  BatchPreview,
  BatchResult,
  BatchSummary,
  EnsemblePlacement,
  GateReport,
  GatewayEnsembles,
  KeptEnsemble,
  Outcome,
  SurveyedAnswers,
} from "@/server/contracts/studio";
import type { BatchExport, BatchRequest } from "@/server/contracts/studio/batches";
import type {
  KeepEnsemble,
  KeepSample,
  MeasuredSessions,
  PlaceRequest,
  ReplayRequest,
  SessionsOfEngine,
} from "@/server/contracts/studio/ensembles";
import type { Actor } from "./actor";

/** Ensembles, the labelled answers their gates are chosen on, and what gateways serve of them. */
export interface EnsembleService {
  /** By name. */
  list(): readonly KeptEnsemble[];
  /** Keeps it as the next version of its name, refused where the newest is not the one expected; `again`: the newest is the same. */
  keep(request: KeepEnsemble, actor: Actor): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }>;
  /** Batches and gateways have copies of their own, and go on with them. */
  remove(name: string, actor: Actor): Outcome<object>;
  /** Newest first. */
  samples(): readonly AnswerSampleSummary[];
  /** What a table of answers holds; nothing is kept. */
  survey(uploadId: string): Promise<Outcome<{ readonly survey: SurveyedAnswers }>>;
  keepSample(request: KeepSample, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  removeSample(id: string, actor: Actor): Outcome<object>;
  /** A gate on a sample, tau by tau, in a thread of its own; it ends when the signal aborts. */
  replay(request: ReplayRequest, signal: AbortSignal): Promise<Outcome<{ readonly report: GateReport }>>;
  /** Where experts go, in a thread of its own; it ends when the signal aborts. */
  place(request: PlaceRequest, signal: AbortSignal): Promise<Outcome<{ readonly placement: EnsemblePlacement }>>;
  /** What was measured of sessions, by model. */
  sessions(): readonly MeasuredSessions[];
  /** Keeps an uploaded table of measured sessions, which placements are fitted to from then on. */
  keepSessions(uploadId: string, actor: Actor): Promise<Outcome<{ readonly rows: number }>>;
  removeSessions(of: SessionsOfEngine, actor: Actor): Outcome<object>;
  /** What a cluster's gateway serves; refused where it does not answer. */
  served(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles }>>;
  /** Has a gateway serve a kept ensemble under its name, from the next request on. */
  serve(request: { readonly clusterId: string; readonly name: string; readonly reason: string }, actor: Actor): Promise<Outcome<object>>;
  withdraw(request: { readonly clusterId: string; readonly name: string; readonly reason: string }, actor: Actor): Promise<Outcome<object>>;
  /** From the next decision on. */
  setTau(
    request: { readonly clusterId: string; readonly name: string; readonly tau: number; readonly reason: string },
    actor: Actor,
  ): Promise<Outcome<object>>;
}

/** Batches of questions run through an ensemble. One that a killed studio left goes on at the next start. */
export interface BatchService {
  /** Newest first. */
  list(): readonly BatchSummary[];
  get(id: string): Batch | null;
  /** Workers of so many GPUs each that the cluster has free at this moment. */
  room(
    asked: { readonly clusterId: string; readonly gpusPerWorker: number },
    signal: AbortSignal,
  ): Promise<Outcome<{ readonly workers: number }>>;
  /** What `start` would do; nothing is begun. */
  preview(request: BatchRequest, signal: AbortSignal): Promise<Outcome<{ readonly preview: BatchPreview }>>;
  start(request: BatchRequest, signal: AbortSignal, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Begins no more calls; engines stay loaded. */
  pause(id: string, actor: Actor): Outcome<object>;
  resume(id: string, actor: Actor): Outcome<object>;
  /** Ends it for good and unloads its engines; what was answered stays. */
  stop(id: string, actor: Actor): Promise<Outcome<object>>;
  /** Forgets one that is over, with its answers. */
  remove(id: string, actor: Actor): Outcome<object>;
  /** Questions that are decided, in order of prompts, read as they are taken; null: no such batch. */
  results(id: string): Iterable<BatchResult> | null;
  /** As a job for Kubernetes or Ray, with its prompts; one that was started as its order has it, whatever became of its ensemble since. */
  export(request: BatchExport, signal: AbortSignal): Promise<Outcome<{ readonly name: string; readonly text: string }>>;
}
