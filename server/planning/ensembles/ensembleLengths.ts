import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { decideGate } from "@/solver/ensemble/gate/gate";
import { type AnswerSample, type SampledModel, votesAt } from "@/solver/ensemble/replay/answerSample";
import { recruiter } from "@/solver/ensemble/replay/recruit";
import type { AggregatedQuestions } from "@/solver/ensemble/sessions/aggregatorStage";
import type { AnswerLengths } from "@/solver/ensemble/sessions/outputLengths";
import type { Workload } from "@/solver/workload/workload";
import { spreadRows } from "./spreadRows";

/** Lengths of models' answers, question by question. */
export interface LengthTable {
  /** Its name, as the end of the sentence "Answers are as long as those of ...". */
  readonly name: string;
  readonly categories: readonly string[];
  /** null: the lengths of its questions are unknown. */
  readonly inputTokens: ArrayLike<number> | null;
  readonly models: readonly LengthColumn[];
  /** The votes of its models; null: unknown. */
  readonly voted: AnswerSample["models"] | null;
}

interface LengthColumn {
  readonly model: string;
  readonly outputTokens: ArrayLike<number>;
  /** Absent: it was asked every question. */
  readonly asked?: Uint8Array;
}

/** For a question of unknown length: the length of short ones with choices. */
const assumedQuestionTokens = 150;

/** The lengths of a workload's outcomes. */
export const workloadLengths = ({ name, outcomes }: Pick<Workload, "name" | "outcomes">): LengthTable => ({
  name: `the workload ${name}`,
  categories: outcomes.categories,
  inputTokens: outcomes.inputTokens,
  models: outcomes.models.map(({ model, outputTokens }) => ({ model, outputTokens })),
  voted: null,
});

/** The lengths of a sample of answers. */
export const sampleLengths = (name: string, { questionIds, categories, models }: AnswerSample): LengthTable => ({
  name: `the sample "${name}"`,
  categories: categories ?? questionIds.map(() => ""),
  inputTokens: null,
  models,
  voted: models,
});

/** The lengths that placing needs. */
export interface EnsembleLengths {
  readonly lengths: Readonly<Record<string, AnswerLengths>>;
  readonly aggregated: AggregatedQuestions | null;
  readonly lengthsSource: string;
}

/** A question of a table, with the experts recruited for it. */
interface Row {
  readonly at: number;
  readonly experts: readonly string[];
}

/**
 * Lengths of an ensemble's experts on the questions that they are recruited for, and of what its aggregator reads and writes. An aggregator
 * whose answers are not in the table is assumed to write answers as long as the experts', which the source then states.
 *
 * @returns a sentence if the table has no answers of an expert.
 */
export function ensembleLengths(ensemble: Ensemble, table: LengthTable): EnsembleLengths | string {
  const { experts, aggregator, maxTokens = Number.POSITIVE_INFINITY } = ensemble;
  const columns = new Map(table.models.map((column) => [column.model, column]));
  const missing = experts.filter((expert) => !columns.has(expert));
  if (missing.length > 0)
    return `Nothing tells how long answers of ${missing.join(", ")} are: ${table.name} has those of ${[...columns.keys()].join(", ")}.`;
  const recruit = recruiter(ensemble);
  const rows = spreadRows(table.categories.length).map((at): Row => ({ at, experts: recruit(table.categories[at] ?? "") }));
  const wasAsked = (model: string, { at }: Row): boolean => (columns.get(model)?.asked?.[at] ?? 1) === 1;
  const questionTokens = ({ at }: Row): number => Math.max(1, table.inputTokens?.[at] ?? assumedQuestionTokens);
  const answerTokens = (model: string, { at }: Row): number => Math.max(1, columns.get(model)?.outputTokens[at] ?? 1);
  const lengthsOn = (model: string, on: readonly Row[]): AnswerLengths => ({
    inputTokens: Int32Array.from(on, questionTokens),
    outputTokens: Int32Array.from(on, (row) => answerTokens(model, row)),
  });

  const lengths: Record<string, AnswerLengths> = {};
  for (const expert of experts) {
    const asked = rows.filter((row) => wasAsked(expert, row));
    if (asked.length === 0) return `Nothing tells how long answers of ${expert} are: in ${table.name} it was asked nothing.`;
    const own = asked.filter((row) => row.experts.includes(expert));
    // An expert that is recruited for none of these questions may still get assignments.
    lengths[expert] = lengthsOn(expert, own.length > 0 ? own : asked);
  }
  const read = columns.has(aggregator.model)
    ? rows.filter((row) => [...row.experts, aggregator.model].every((model) => wasAsked(model, row)))
    : [];
  lengths[aggregator.model] ??= read.length > 0 ? lengthsOn(aggregator.model, read) : pooled(Object.values(lengths));
  const voted = table.voted && new Map(table.voted.map((column) => [column.model, column]));
  const aggregated: AggregatedQuestions = {
    questionTokens: Int32Array.from(read, questionTokens),
    answerTokens: Int32Array.from(read, (row) =>
      row.experts.reduce((sum, expert) => sum + Math.min(answerTokens(expert, row), maxTokens), 0),
    ),
    outputTokens: Int32Array.from(read, (row) => answerTokens(aggregator.model, row)),
    confidence: voted && Float64Array.from(read, (row) => confidenceOn(row, ensemble, voted)),
  };
  const assumed = table.inputTokens === null ? [`to questions taken to be ${assumedQuestionTokens} tokens long`] : [];
  const pooling = read.length === 0 ? ["the aggregator's as long as the experts'"] : [];
  const lengthsSource = [`those of ${table.name}`, ...assumed, ...pooling].join(", ");
  return { lengths, aggregated: read.length === 0 ? null : aggregated, lengthsSource };
}

/** The confidence on a question that all its experts were asked. */
function confidenceOn({ at, experts }: Row, { confidence, tau }: Ensemble, voted: ReadonlyMap<string, SampledModel>): number {
  return decideGate(votesAt(voted, experts, at) ?? [], { asked: experts, confidence, tau }).confidence;
}

function pooled(lengths: readonly AnswerLengths[]): AnswerLengths {
  const all = (tokens: (one: AnswerLengths) => ArrayLike<number>): Int32Array =>
    Int32Array.from(lengths.flatMap((one) => Array.from(tokens(one))));
  return { inputTokens: all((one) => one.inputTokens), outputTokens: all((one) => one.outputTokens) };
}
