import type {
  ArrivalsPreview,
  HandLabelOrder,
  LabelProgress,
  Outcome,
  ProfileEstimate,
  ProfileJob,
  ProfileRequest,
  ProfileTrust,
  PromptSet,
  PromptSurvey,
  PromptsOfGateway,
  ReplaceArrivals,
  SamplePrompts,
  Schedule,
  ScheduleState,
  SkipOrder,
} from "@/server/contracts/studio";
import type { Actor } from "./actor";
import type { ProfileToWorkload } from "./profilingInputs";

/** An upload made of what a gateway kept. */
interface PromptsTaken {
  readonly uploadId: string;
  readonly survey: PromptSurvey;
  /** Days within which the capture deletes what it keeps; null: nothing was said, as of decision records. */
  readonly retentionDays: number | null;
}

/** Samples of the operator's own prompts. */
export interface PromptService {
  /** Newest first. */
  list(): readonly PromptSet[];
  /** Takes a stratified sample of an uploaded file; the file itself goes. */
  sample(request: SamplePrompts, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Makes an upload of what a gateway kept of its traffic; refused with the reason and what to switch on. */
  takeFromGateway(request: PromptsOfGateway, actor: Actor): Promise<Outcome<PromptsTaken>>;
  /** Deletes an upload before a sample was taken of it; one that is gone is no matter. Refused while a sample is taken of it. */
  archive(uploadId: string): Outcome<object>;
  /** Deletes the texts, and answers kept of them; what was measured stays. Refused while a profile runs on it. */
  deleteTexts(id: string, actor: Actor): Outcome<object>;
}

/** Jobs that run prompts through models and judges. They go on when nobody looks, and after the studio was killed. */
export interface ProfileService {
  estimate(request: ProfileRequest): Promise<Outcome<{ readonly estimate: ProfileEstimate }>>;
  start(request: ProfileRequest, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Newest first. */
  list(): readonly ProfileJob[];
  get(id: string): ProfileJob | null;
  pause(id: string, actor: Actor): Outcome<object>;
  /** `capUsd`: another cap from now on; left out: the one it has. */
  resume(id: string, capUsd: number | null | undefined, actor: Actor): Outcome<object>;
  /** Ends it for good; what was measured stays. */
  stop(id: string, actor: Actor): Outcome<object>;
  /** Joins what was measured to arrivals, a workload for each segment. Refused where fewer than two prompts have everything. */
  toWorkload(request: ProfileToWorkload, actor: Actor): Promise<Outcome<{ readonly ids: readonly string[]; readonly leftOut: number }>>;
  /** Makes an upload of measured runs of its latencies, for calibration. */
  toMeasuredRuns(id: string): Promise<Outcome<{ readonly uploadId: string }>>;
}

/** Hand labels, and what they say of measures. */
export interface TrustService {
  /** What to label next, blind, and no one else's task of these minutes; null as its task where everything is labelled. */
  next(jobId: string, kind: HandLabelOrder["kind"], actor: Actor): Outcome<{ readonly progress: LabelProgress }>;
  /** Given again it replaces one's own label; refused where somebody else labelled it meanwhile. */
  label(order: HandLabelOrder, actor: Actor): Outcome<object>;
  /** For whoever cannot tell: nothing is stored, and it does not come up again for this person in this sitting. */
  skip(order: SkipOrder, actor: Actor): Outcome<object>;
  /** Takes the last label of this person back, which comes up again. */
  undo(jobId: string, kind: HandLabelOrder["kind"], actor: Actor): Outcome<object>;
  /** Held against a floor of quality, 0..100. */
  report(jobId: string, floor: number): Outcome<{ readonly trust: ProfileTrust }>;
}

/** Arrivals before they are joined to anything. */
export interface ArrivalsService {
  /** Refused where there are none, with what to do. A segment with too few of them is told by its count. */
  preview(request: Omit<ReplaceArrivals, "workloadId">): Promise<Outcome<{ readonly preview: ArrivalsPreview }>>;
}

/** Plans switched by the time of day. */
export interface ScheduleService {
  get(clusterId: string): ScheduleState | null;
  /** Refused unless every plan is kept and approved for the cluster. */
  set(schedule: Schedule, actor: Actor): Outcome<object>;
  enable(clusterId: string, enabled: boolean, actor: Actor): Outcome<object>;
  remove(clusterId: string, actor: Actor): Outcome<object>;
}
