import type { BatchRequest } from "@/server/contracts/batches";
import type { PlacedSchedule } from "@/server/contracts/ensembles";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import type { Placement } from "@/solver/plan/plan";

/** What a batch is to do, settled before it begins. */
export interface BatchOrder {
  readonly request: BatchRequest;
  readonly ensemble: Ensemble;
  /** GPU type of the workers. */
  readonly gpu: string;
  /** Each worker's GPUs. */
  readonly workers: readonly Placement[];
  /** Sessions of experts, worker by worker in turn, each with the positions of its prompts, rising. */
  readonly sessions: readonly (readonly OrderedSession[])[];
  /** GPUs of the aggregator's engines, which run after all experts, one engine each. */
  readonly aggregators: readonly Placement[];
  /** As they were timed, `placed` first; what was predicted of the aggregator, were it asked everything. */
  readonly schedules: readonly PlacedSchedule[];
  readonly aggregatorPredicted: { readonly loadSeconds: number; readonly allSeconds: number } | null;
  readonly emulated: boolean;
  readonly questions: number;
  readonly notes: readonly string[];
}

export interface OrderedSession {
  readonly model: string;
  readonly positions: readonly number[];
}
