import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import {
  type ConfidenceArtefact,
  type ConfidenceRows,
  type Embeddings,
  embeddingsAt,
  scoreRows,
  trainConfidence,
} from "@/solver/prediction/confidence";
import { kendallTauDistance } from "@/solver/prediction/errors";
import { heldOutConfidence, heldOutLengths } from "@/solver/prediction/heldOut";
import { type LengthRows, trainLengths } from "@/solver/prediction/lengths";
import type { HeldOutError } from "@/solver/prediction/predictor";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import { confidenceRowsOf, lengthRowsOf } from "@/solver/prediction/programRows";
import { learnUsualLengths, usualLengthOf } from "@/solver/prediction/usualLengths";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { type PromptSplit, splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";

/** Number of training programs for lengths, and of test programs: each prompt of the latter is in several. */
const TRAINED_PROGRAMS = 2000;
const MEASURED_PROGRAMS = 1000;

/** Correlations of a program's stages from having one prompt. */
export const CORRELATIONS = [1, 0.5] as const;

/** Prompts of an outcome table, and the known data of their texts. */
export interface Prompts {
  readonly outcomes: OutcomeTable;
  readonly texts: PromptTexts;
}

/** Kendall's tau distances of one model's length order on held-out prompts. */
export interface LengthErrors {
  readonly model: string;
  /** Errors on single answers to the prompts: no stages, no modelled lengths. */
  readonly single: { readonly learnt: number; readonly input: number };
  /** Errors on the rest of programs, over all their requests, by correlation. */
  readonly programs: readonly {
    readonly learnt: number;
    readonly input: number;
    /** By the usual length of each stage of each workflow, whatever the prompt. */
    readonly usual: number;
    readonly arrival: number;
  }[];
}

export interface ConfidenceErrors {
  readonly model: string;
  readonly auc: number;
  readonly averagePrecision: number;
  readonly rightShare: number;
  /** Mean distance of the predicted from the observed share, over tenths of the prompts by prediction. */
  readonly calibrationError: number;
}

/** Lengths learnt on 70 % of the prompts and measured on the rest, as plans and trainings split them. */
export function lengthErrors({ outcomes, texts }: Prompts, names: readonly string[], seed: number): readonly LengthErrors[] {
  const split = splitPrompts(outcomes.promptIds.length, seed);
  const [learnt, left] = [singleAnswers(outcomes, split.planning, texts), singleAnswers(outcomes, split.heldOut, texts)];
  const single = heldOutLengths(trainLengths(learnt, { seed }), left).lengths ?? [];
  const programs = CORRELATIONS.map((correlation) => programErrors({ outcomes, texts }, split, { names, correlation, seed }));
  return single.map(({ model, requestTau, inputLengthTau }, index) => ({
    model,
    single: { learnt: requestTau, input: inputLengthTau },
    programs: programs.flatMap((errors) => errors[index] ?? []),
  }));
}

function singleAnswers(outcomes: OutcomeTable, rows: Int32Array, texts: PromptTexts): LengthRows {
  const { facts } = confidenceRowsOf(outcomes, rows, texts);
  return {
    prompts: rows.length,
    models: outcomes.models.map(({ model, outputTokens }) => {
      const tokens = Float32Array.from(rows, (row) => outputTokens[row] ?? 0);
      return { model, facts, requestTokens: tokens, remainingTokens: tokens };
    }),
  };
}

interface Drawn {
  readonly names: readonly string[];
  readonly correlation: number;
  readonly seed: number;
}

function programErrors({ outcomes, texts }: Prompts, split: PromptSplit, { names, correlation, seed }: Drawn) {
  const mix = workflows.filter(({ name }) => names.includes(name)).map((workflow) => ({ workflow, share: 1 }));
  const rowsOf = (prompts: Int32Array, count: number, part: string): LengthRows => {
    const arrivalSeconds = Float64Array.from({ length: count }, (_, at) => at);
    return lengthRowsOf(drawPrograms({ outcomes, prompts, mix, correlation, arrivalSeconds, seed: mixSeed(seed, part) }), texts);
  };
  const [learnt, left] = [rowsOf(split.planning, TRAINED_PROGRAMS, "learnt"), rowsOf(split.heldOut, MEASURED_PROGRAMS, "left")];
  const errors = heldOutLengths(trainLengths(learnt, { seed }), left).lengths ?? [];
  return errors.map(({ remainingTau, inputLengthTau }, index) => {
    const { facts, remainingTokens } = left.models[index] ?? { facts: [], remainingTokens: new Float32Array() };
    const known = learnt.models[index];
    const usualOf = usualLengthOf(learnUsualLengths(known?.facts ?? [], (known?.remainingTokens ?? new Float32Array()).map(Math.log)));
    return {
      learnt: remainingTau,
      input: inputLengthTau,
      usual: kendallTauDistance(facts.map(usualOf), remainingTokens),
      arrival: kendallTauDistance(
        facts.map((_, at) => at),
        remainingTokens,
      ),
    };
  });
}

/**
 * Heads learnt on 70 % of the prompts and measured on the rest.
 *
 * @param embeddings of all prompts, which heads then read instead of words; null: heads read words
 */
export function confidenceErrors(
  { outcomes, texts }: Prompts,
  seed: number,
  embeddings: Embeddings | null = null,
): readonly ConfidenceErrors[] {
  const split = splitPrompts(outcomes.promptIds.length, seed);
  const rowsOf = (rows: Int32Array): ConfidenceRows => ({
    ...confidenceRowsOf(outcomes, rows, texts),
    ...(embeddings === null ? {} : { embeddings: embeddingsAt(embeddings, rows) }),
  });
  const heads = trainConfidence(rowsOf(split.planning), { seed });
  const left = rowsOf(split.heldOut);
  const errors: HeldOutError["confidence"] = heldOutConfidence(heads, left).confidence ?? [];
  return errors.map((of) => ({ ...of, calibrationError: calibrationError(heads, left, of.model) }));
}

function calibrationError(heads: ConfidenceArtefact, left: ConfidenceRows, model: string): number {
  const head = heads.models.indexOf(model);
  const scores = scoreRows(heads, left);
  const said = Array.from(left.right[head] ?? [], (right, row) => ({ right, chance: scores[row * heads.models.length + head] ?? 0 }));
  said.sort((a, b) => a.chance - b.chance);
  const tenths = Array.from({ length: 10 }, (_, tenth) =>
    said.slice(Math.floor((tenth * said.length) / 10), Math.floor(((tenth + 1) * said.length) / 10)),
  );
  return mean(tenths.map((part) => Math.abs(mean(part.map(({ chance }) => chance)) - mean(part.map(({ right }) => right)))));
}
