import type { PlaceRequest } from "@/server/contracts/ensembles";
import type { AggregatedQuestions } from "@/solver/ensemble/aggregatorStage";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import type { AnswerLengths } from "@/solver/ensemble/outputLengths";
import type { SessionRow } from "@/solver/ensemble/sessionRow";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";

/** Everything that placing an ensemble's experts takes, as plain data. */
export interface PlaceTask {
  readonly ensemble: Ensemble;
  /** Id of the workers' GPU card. */
  readonly gpu: string;
  readonly gpusPerWorker: number;
  readonly workers: number;
  /** Of one node, all of which an engine of the aggregator may span. */
  readonly gpusPerNode: number;
  /** null: swept. */
  readonly maxModelsPerWorker: number | null;
  readonly replicas: "amortised" | "single";
  readonly storage: PlaceRequest["storage"];
  readonly questions: number;
  /** Prompts of each expert, in the ensemble's order. */
  readonly prompts: readonly number[];
  /** By model, the aggregator's too; those of an expert are of the prompts that it answers. */
  readonly lengths: Readonly<Record<string, AnswerLengths>>;
  /** Where the lengths are from, as it ends the sentence "Answers are as long as ...". */
  readonly lengthsSource: string;
  /** Sampled questions as the aggregator reads them; null: put together of the experts' lengths, row by row, as likely to be aggregated whatever their length. */
  readonly aggregated: AggregatedQuestions | null;
  /** Of the experts and the aggregator on that GPU; others are passed over. */
  readonly sessionRows: readonly SessionRow[];
  readonly engineProfile: EngineProfile;
  readonly cards: CardCatalogue;
  /** Requests that a session has in flight at most; null: as many as the engine takes. */
  readonly concurrency: number | null;
}
