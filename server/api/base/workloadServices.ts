import type { Outcome, WorkloadComparison, WorkloadDetail, WorkloadSummary, WorkloadTies, WorkloadUses } from "@/server/contracts/studio";
import type { ReplaceArrivals } from "@/server/contracts/studio/arrivals";
import type { CapacityCurve, CapacityRequest, DeclaredWorkflow, ReadWorkflow } from "@/server/contracts/studio/declaredWorkflows";
import type { Actor } from "./actor";
import type { WorkloadImport } from "./inputs";

export interface WorkloadService {
  list(): readonly WorkloadSummary[];
  /** null: no such workload. */
  get(id: string): { readonly summary: WorkloadSummary; readonly detail: WorkloadDetail } | null;
  /** Joins uploaded tables into a workload; refused with file, line and field, and then nothing is stored. */
  importUploads(request: WorkloadImport, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** Takes an uploaded workload as `write` gives it; refused with the line that is damaged, and then nothing is stored. */
  importLines(uploadId: string, actor: Actor): Promise<Outcome<{ readonly id: string }>>;
  /** The same prompts and outcomes with other arrivals: a new version, or one for each segment of the day. */
  replaceArrivals(request: ReplaceArrivals, actor: Actor): Promise<Outcome<{ readonly ids: readonly string[] }>>;
  /** null: one of them is not here. */
  compare(a: string, b: string): WorkloadComparison | null;
  /** null: no such workload. */
  ties(id: string): WorkloadTies | null;
  uses(): WorkloadUses;
  /** A workload as lines of text; null: no such workload. */
  write(id: string): { readonly name: string; readonly lines: Iterable<string> } | null;
  remove(id: string, actor: Actor): Outcome<object>;
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
