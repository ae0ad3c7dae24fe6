import type {
  LabRun,
  LabRunSummary,
  LabSpec,
  LabSuggestion,
  LabSuggestionRequest,
  LabWorkflow,
  ListedArtefact,
  Outcome,
  TrainingState,
  TrainRequest,
} from "@/server/contracts/studio";
import type { Actor } from "./actor";

/** Races policies on programs, in worker threads. A run goes on when nobody looks; one that the studio's end cut is cancelled. */
export interface LabService {
  workflows(): readonly LabWorkflow[];
  suggest(request: LabSuggestionRequest): Promise<Outcome<{ readonly suggestion: LabSuggestion }>>;
  /** Starts it, or finds the run of the same name that is under way or done. Refused with the field and the reason. */
  start(spec: LabSpec, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Newest first. */
  list(): readonly LabRunSummary[];
  /** Without the first `since` of its cells, in the order in which they came. */
  get(id: string, since?: number): LabRun | null;
  cancel(id: string, actor: Actor): Outcome<object>;
  /** Forgets a run that is not under way. */
  remove(id: string, actor: Actor): Outcome<object>;
}

/** Trained predictors, each by its hash. */
export interface ArtefactService {
  /** Newest first. */
  list(): readonly ListedArtefact[];
  state(): TrainingState;
  /** Trains in a worker thread; resolves once it runs. One at a time. */
  train(request: TrainRequest, actor: Actor): Promise<Outcome<object>>;
  cancel(actor: Actor): Outcome<object>;
  /** Refused while a plan in force names it. */
  remove(hash: string, actor: Actor): Outcome<object>;
}
