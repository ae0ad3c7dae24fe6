import type { AggregatedQuestions } from "@/solver/ensemble/aggregatorStage";
import type { AnswerSample } from "@/solver/ensemble/answerSample";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import { decideGate } from "@/solver/ensemble/gate";
import type { AnswerLengths } from "@/solver/ensemble/outputLengths";
import { recruiter } from "@/solver/ensemble/recruit";
import type { OutcomeTable } from "@/solver/workload/workload";

/** How long the answers of models to some questions are, question by question. */
export interface LengthTable {
  /** As it ends the sentence "Answers are as long as ...". */
  readonly source: string;
  readonly categories: readonly string[];
  readonly inputTokens: ArrayLike<number>;
  readonly models: readonly {
    readonly model: string;
    readonly outputTokens: ArrayLike<number>;
    /** Left out: it was asked every question. */
    readonly asked?: Uint8Array;
    /** Left out: its votes are not known. */
    readonly votes?: readonly (string | null)[];
  }[];
}

/** Answers to a question have few thousand different lengths. */
const mostRows = 4_000;

/** Input of a question of a sample, which does not tell how long its questions are: what short questions with choices have. */
const assumedQuestionTokens = 150;

/** Of a workload's outcomes. */
export const workloadLengths = ({ name, outcomes }: { readonly name: string; readonly outcomes: OutcomeTable }): LengthTable => ({
  source: `those of the workload ${name}`,
  categories: outcomes.categories,
  inputTokens: outcomes.inputTokens,
  models: outcomes.models.map(({ model, outputTokens }) => ({ model, outputTokens })),
});

/** Of a sample of answers. Nothing in it tells how long its questions are. */
export const sampleLengths = (name: string, { questionIds, categories, models }: AnswerSample): LengthTable => ({
  source: `those of the sample "${name}", to questions taken to be ${assumedQuestionTokens} tokens long`,
  categories: categories ?? questionIds.map(() => ""),
  inputTokens: new Int32Array(questionIds.length).fill(assumedQuestionTokens),
  models: models.map(({ model, outputTokens, asked, answers }) => ({ model, outputTokens, asked, votes: answers })),
});

/** What placing takes of lengths. */
export interface EnsembleLengths {
  readonly lengths: Readonly<Record<string, AnswerLengths>>;
  readonly aggregated: AggregatedQuestions | null;
  readonly lengthsSource: string;
}

/**
 * Lengths of an ensemble's experts on the questions that they are recruited for, and of what its aggregator reads and writes. An aggregator
 * whose answers are not in the table writes as long ones as the experts do, which the source then says.
 *
 * @returns a sentence where the table has no answers of an expert.
 */
export function ensembleLengths(ensemble: Ensemble, table: LengthTable): EnsembleLengths | string {
  const { experts, aggregator } = ensemble;
  const columns = new Map(table.models.map((column) => [column.model, column]));
  const missing = experts.filter((expert) => !columns.has(expert));
  if (missing.length > 0)
    return `Nothing tells how long answers of ${missing.join(", ")} are: ${table.source} are of ${table.models.map(({ model }) => model).join(", ")}.`;
  const rows = spread(table.categories.length);
  const recruit = recruiter(ensemble);
  const recruited = rows.map((row) => recruit(table.categories[row] ?? ""));
  const wasAsked = (model: string, row: number): boolean => (columns.get(model)?.asked?.[row] ?? 1) === 1;
  const tokensOf = (model: string, row: number): number => Math.max(1, columns.get(model)?.outputTokens[row] ?? 1);
  const lengthsAt = (model: string, at: readonly number[]): AnswerLengths => ({
    inputTokens: Int32Array.from(at, (row) => Math.max(1, table.inputTokens[row] ?? 1)),
    outputTokens: Int32Array.from(at, (row) => tokensOf(model, row)),
  });
  const lengths: Record<string, AnswerLengths> = {};
  for (const expert of experts) {
    const asked = rows.filter((row) => wasAsked(expert, row));
    const own = rows.filter((row, at) => recruited[at]?.includes(expert) === true && wasAsked(expert, row));
    // An expert that these questions recruit nowhere may still be assigned some.
    const used = own.length > 0 ? own : asked;
    if (used.length === 0) return `Nothing tells how long answers of ${expert} are: in ${table.source} it was asked nothing.`;
    lengths[expert] = lengthsAt(expert, used);
  }
  const known = columns.has(aggregator.model);
  const read = rows.filter(
    (row, at) => recruited[at]?.every((expert) => wasAsked(expert, row)) && (!known || wasAsked(aggregator.model, row)),
  );
  lengths[aggregator.model] ??=
    known && read.length > 0 ? lengthsAt(aggregator.model, read) : pooled(experts.map((expert) => lengths[expert]));
  const hasVotes = experts.every((expert) => columns.get(expert)?.votes !== undefined);
  const answersOf = (row: number) => recruit(table.categories[row] ?? "");
  const confidenceAt = (row: number): number => {
    const asked = answersOf(row);
    const votes = asked.map((expert) => ({
      expert,
      vote: columns.get(expert)?.votes?.[row] ?? null,
      outputTokens: tokensOf(expert, row),
    }));
    return decideGate(votes, { asked, confidence: ensemble.confidence, tau: ensemble.tau }).confidence;
  };
  const aggregated =
    read.length === 0 || !known
      ? null
      : {
          questionTokens: Int32Array.from(read, (row) => table.inputTokens[row] ?? 1),
          answerTokens: Int32Array.from(read, (row) => answersOf(row).reduce((sum, expert) => sum + tokensOf(expert, row), 0)),
          outputTokens: Int32Array.from(read, (row) => tokensOf(aggregator.model, row)),
          confidence: hasVotes ? Float64Array.from(read, confidenceAt) : null,
        };
  const lengthsSource = known ? table.source : `${table.source}, and the aggregator's as long as the experts'`;
  return { lengths, aggregated, lengthsSource };
}

/** As many rows of a table as are read, spread over all of it. */
function spread(rows: number): readonly number[] {
  const taken = Math.min(rows, mostRows);
  return Array.from({ length: taken }, (_, at) => Math.floor((at * rows) / taken));
}

function pooled(lengths: readonly (AnswerLengths | undefined)[]): AnswerLengths {
  const known = lengths.filter((one) => one !== undefined);
  const all = (tokens: (one: AnswerLengths) => ArrayLike<number>): Int32Array =>
    Int32Array.from(known.flatMap((one) => Array.from(tokens(one))));
  return { inputTokens: all((one) => one.inputTokens), outputTokens: all((one) => one.outputTokens) };
}
