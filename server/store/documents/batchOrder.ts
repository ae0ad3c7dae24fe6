import type { BatchRequest } from "@/server/contracts/studio/batches";
import type { EnsemblePlacement, PlacedSchedule } from "@/server/contracts/studio/ensembles";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { Placement } from "@/solver/plan/clusterSpec";

/** The work of a batch's experts, determined before it begins: the whole content of a job file. */
export interface ExpertsOrder {
  readonly request: BatchRequest;
  readonly ensemble: Ensemble;
  /** GPU type of the workers. */
  readonly gpu: string;
  /** Each worker's GPUs. */
  readonly workers: readonly Placement[];
  /** Sessions of experts, worker by worker in turn, each with the positions of its prompts, ascending. */
  readonly sessions: readonly (readonly OrderedSession[])[];
  /** The timed schedules, `placed` first. */
  readonly schedules: readonly PlacedSchedule[];
  readonly emulated: boolean;
  readonly questions: number;
  readonly notes: readonly string[];
}

/** The work of a batch's aggregator. */
export interface AggregatorOrder {
  /** GPUs of its engines, one each, which run after all experts; at least one. */
  readonly aggregators: readonly Placement[];
  readonly aggregatorPredicted: PredictedAggregator;
}

/** The work of a batch. */
export interface BatchOrder extends ExpertsOrder, AggregatorOrder {}

/** Engine seconds of the aggregator's stage. */
interface PredictedAggregator {
  readonly loadSeconds: number;
  /** Answering time by the share of questions that reach it, rising from 0 to 1. */
  readonly points: NonNullable<EnsemblePlacement["aggregator"]>["points"];
  /** The expectation from a saved sample; null: none has votes of the experts. */
  readonly expected: ExpectedShare | null;
}

/** Share of questions that a gate sends to the aggregator, 0..1, by the votes of a sample of answers. */
export interface ExpectedShare {
  readonly share: number;
  /** The end of a sentence "... as in ...". */
  readonly source: string;
}

export interface OrderedSession {
  readonly model: string;
  readonly positions: readonly number[];
}
