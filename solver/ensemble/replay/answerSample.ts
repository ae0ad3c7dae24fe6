import type { Vote } from "../gate/gate";

/**
 * Answers of several models to the same questions, with their known correctness: the data for choosing a gate. Arrays of a model are
 * parallel to `questionIds`.
 */
export interface AnswerSample {
  readonly questionIds: readonly string[];
  /** Parallel to `questionIds`; left out where questions have none. */
  readonly categories?: readonly string[];
  readonly models: readonly SampledModel[];
}

export interface SampledModel {
  readonly model: string;
  /** Its vote; null: no vote could be read from its answer. */
  readonly answers: readonly (string | null)[];
  /** 1 where it is right. */
  readonly correct: Uint8Array;
  readonly outputTokens: Int32Array;
  /** 1 where it was asked. */
  readonly asked: Uint8Array;
}

/** The origin of a sample's answers. */
export type SampleOrigin = "uploaded" | "batch" | "modelled" | "emulated";

/** Engines that a sample must represent: those of these experts. */
export interface SampledEngines {
  readonly experts: readonly string[];
  readonly emulated: boolean;
}

interface Sampled {
  readonly origin: SampleOrigin;
  readonly models: readonly { readonly model: string }[];
}

/** Whether a sample has answers of all experts. */
export const hasAll = ({ models }: Pick<Sampled, "models">, experts: readonly string[]): boolean =>
  experts.every((expert) => models.some(({ model }) => model === expert));

/**
 * Whether a sample represents engines: it has answers of all their experts, real ones for real engines, modelled or emulated ones for
 * emulated engines.
 */
export const tellsOf = (sample: Sampled, { experts, emulated }: SampledEngines): boolean =>
  (sample.origin === "modelled" || sample.origin === "emulated") === emulated && hasAll(sample, experts);

/** The experts' votes on the question at an index of a sample; null: one of them was not asked. */
export function votesAt(columns: ReadonlyMap<string, SampledModel>, experts: readonly string[], at: number): readonly Vote[] | null {
  const votes: Vote[] = [];
  for (const expert of experts) {
    const column = columns.get(expert);
    if (column?.asked[at] !== 1) return null;
    votes.push({ expert, vote: column.answers[at] ?? null, outputTokens: column.outputTokens[at] ?? 0 });
  }
  return votes;
}

/** A sample of another's questions at these indices. */
export function someQuestions(sample: AnswerSample, places: readonly number[]): AnswerSample {
  const of = <T>(values: ArrayLike<T>, none: T): T[] => places.map((at) => values[at] ?? none);
  return {
    questionIds: of(sample.questionIds, ""),
    ...(sample.categories && { categories: of(sample.categories, "") }),
    models: sample.models.map(({ model, answers, correct, outputTokens, asked }) => ({
      model,
      answers: of<string | null>(answers, null),
      correct: Uint8Array.from(of(correct, 0)),
      outputTokens: Int32Array.from(of(outputTokens, 0)),
      asked: Uint8Array.from(of(asked, 0)),
    })),
  };
}
