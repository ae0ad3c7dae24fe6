import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { Workload } from "@/solver/workload/workload";
import { importWorkloadLines } from "./importWorkloadLines";
import type { CsvSource } from "./readCsv";

/** The content of a workload's file, before it is imported. */
export interface WorkloadSurvey {
  readonly ok: true;
  readonly name: string;
  readonly prompts: number;
  readonly arrivals: number;
  readonly models: readonly string[];
  readonly outcomesFrom: string;
}

/** Reads all lines of a workload and summarizes them; refused if they are damaged or a model is unknown. */
export async function surveyWorkload(
  source: CsvSource,
  models: CardCatalogue["models"],
): Promise<WorkloadSurvey | { readonly ok: false; readonly message: string }> {
  const read = await importWorkloadLines(source);
  if (!read.ok) return read;
  const unknown = unknownModels(read.workload, models);
  if (unknown !== null) return { ok: false, message: unknown };
  const { name, outcomes, arrivalSeconds, origin } = read.workload;
  return {
    ok: true,
    name,
    prompts: outcomes.promptIds.length,
    arrivals: arrivalSeconds.length,
    models: outcomes.models.map(({ model }) => model),
    outcomesFrom: origin.outcomes,
  };
}

/** Why a workload cannot be planned here, in one sentence: models without a card; null if it can. */
export function unknownModels({ outcomes }: Pick<Workload, "outcomes">, models: CardCatalogue["models"]): string | null {
  const missing = outcomes.models.filter(({ model }) => cardOf(models, model) === undefined).map(({ model }) => model);
  return missing.length === 0 ? null : `There is no model card ${missing.join(", ")} here: add one on Cards, then import again.`;
}
