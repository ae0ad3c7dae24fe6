import { resolveModel } from "@/solver/hardware/aliases";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { modelCards } from "@/solver/hardware/models";
import { quantile } from "@/solver/numeric/quantile";
import type { LabelledOutcomes, LabelledTable } from "./applyJudge";
import { type GateColumn, gateColumns } from "./gateColumns";
import { type Read, shown } from "./outcomeRow";
import { isSelected, type Reached, unselected } from "./unselected";

/** Prompt length assumed where a table has no lengths at all: a few sentences. */
const ASSUMED_INPUT_TOKENS = 256;

/** Number of model cards that a message suggests for an unknown name. */
const SUGGESTED_CARDS = 6;

export interface Prompt {
  readonly id: string;
  readonly category: string;
  /** The largest count of tokens in a row (tokenizers differ between models); 0 for none. */
  inputTokens: number;
}

/** Answers of one model, parallel to the prompts; shorter than them, or NaN, for missing answers and unknown scores. */
export interface Answers extends Readonly<Partial<Record<GateColumn, number[]>>> {
  readonly sizeRank: number;
  readonly outputTokens: number[];
  readonly label: number[];
  readonly judged: number[];
}

export interface CollectedTable {
  readonly table: LabelledTable;
  /** Prompts left out because one of the models did not answer them. */
  readonly droppedPrompts: number;
  /**
   * Further prompts left out because a gate had sent more of their kind to a larger model: without them the rest represents all prompts.
   */
  readonly thinnedPrompts: number;
  /**
   * `estimated`: some prompts had no length and got the median of the others, or 256 tokens where none has one.
   * All estimated prompts have the same length, so that the spread of prefill times is missing from predictions.
   */
  readonly promptLengths: "measured" | "estimated";
}

/** Names of a table's models. */
export interface ModelNames {
  /** The user's own names of models -> ids of model cards, in addition to the committed aliases. */
  readonly aliases: Readonly<Record<string, string>>;
  /** The available cards; left out: the shipped ones. */
  readonly models?: Readonly<Record<string, ModelCard>>;
}

interface RankedModel {
  readonly model: string;
  readonly tableName: string;
  readonly answers: Answers;
}

/** Makes a table of the prompts that every model answered from collected answers, smallest model first, or returns the obstacle. */
export function collectedTable(
  prompts: readonly Prompt[],
  answersOf: ReadonlyMap<string, Answers>,
  names: ModelNames,
): Read<CollectedTable> {
  const ranked = rankModels(answersOf, names);
  if (!ranked.ok) return ranked;
  const models = ranked.value;
  const whole = [...prompts.keys()].filter((place) => models.every(({ answers }) => hasAnswer(answers, place)));
  if (whole.length < 2) {
    const names = models.map(({ tableName }) => shown(tableName)).join(", ");
    const count = whole.length === 0 ? "no prompt" : "only one prompt";
    return { ok: false, problem: `prompt_id: ${count} is answered by all of ${names}; give at least two that every model answered` };
  }
  const unscored = judgedProblem(models, whole) ?? gateColumnProblem(models, whole);
  if (unscored !== null) return { ok: false, problem: unscored };
  const representative = representativeOf(prompts, models, whole);
  if (!representative.ok) return representative;
  const kept = representative.value;
  const keptPrompts = kept.flatMap((place) => prompts[place] ?? []);
  const measured = keptPrompts.flatMap(({ inputTokens }) => (inputTokens > 0 ? [inputTokens] : []));
  const estimate = measured.length > 0 ? Math.round(quantile(measured, 0.5)) : ASSUMED_INPUT_TOKENS;
  return {
    ok: true,
    value: {
      table: {
        promptIds: keptPrompts.map(({ id }) => id),
        categories: keptPrompts.map(({ category }) => category),
        inputTokens: Int32Array.from(keptPrompts, ({ inputTokens }) => (inputTokens > 0 ? inputTokens : estimate)),
        models: models.map((model) => outcomesOf(model, kept)),
      },
      droppedPrompts: prompts.length - whole.length,
      thinnedPrompts: whole.length - kept.length,
      promptLengths: measured.length === kept.length ? "measured" : "estimated",
    },
  };
}

const hasAnswer = ({ label }: Answers, place: number): boolean => !Number.isNaN(label[place] ?? Number.NaN);

/**
 * Of the prompts that every model answered, those that represent all, where a gate chose by judged scores which reach the larger models.
 */
function representativeOf(prompts: readonly Prompt[], models: readonly RankedModel[], whole: readonly number[]): Read<readonly number[]> {
  const kinds = new Set(whole.map((place) => prompts[place]?.category));
  // A kind of prompts that some model was never given is left out intentionally.
  let places = [...prompts.keys()].filter((place) => kinds.has(prompts[place]?.category ?? ""));
  for (const [at, larger] of models.entries()) {
    const smaller = models[at - 1];
    const reached = places.filter((place) => hasAnswer(larger.answers, place));
    if (smaller === undefined || reached.length === places.length) {
      places = reached;
      continue;
    }
    const { label, judged } = smaller.answers;
    const asked = places.map((place) => ({
      label: label[place] ?? 0,
      judged: judged[place] ?? Number.NaN,
      reached: hasAnswer(larger.answers, place),
    }));
    const isJudged = !asked.some((prompt) => Number.isNaN(prompt.judged));
    const seen = asked.map((prompt): Reached => ({ ...prompt, score: isJudged ? prompt.judged : prompt.label }));
    if (!isJudged && isSelected(seen)) return { ok: false, problem: selectedProblem(smaller, larger, seen) };
    const selection = unselected(seen);
    if (selection.kind === "untold")
      return { ok: false, problem: untoldProblem(smaller, larger, { ...selection, reached: reached.length, asked: places.length }) };
    const before = places;
    places = selection.kind === "unselected" ? reached : selection.kept.flatMap((index) => before[index] ?? []);
  }
  return { ok: true, value: places };
}

const WAY_OUT = "mirror a share of the requests through all models, or give what every model answers to the same prompts";

const untoldProblem = (
  smaller: RankedModel,
  larger: RankedModel,
  { from, to, reached, asked }: { readonly from: number; readonly to: number; readonly reached: number; readonly asked: number },
): string =>
  `prompt_id: ${shown(larger.tableName)} answered ${reached} of ${asked} prompts, and too few on which ${shown(smaller.tableName)} is judged ${from} to ${to}: how good it is on all is not known from this traffic; ${WAY_OUT}`;

function selectedProblem(smaller: RankedModel, larger: RankedModel, seen: readonly Reached[]): string {
  const reached = seen.filter((prompt) => prompt.reached);
  const quality = (of: readonly Reached[]): string => (of.reduce((sum, { label }) => sum + label, 0) / of.length).toFixed(1);
  return `prompt_id: ${shown(larger.tableName)} answered ${reached.length} of ${seen.length} prompts, which are not a random sample: on them ${shown(smaller.tableName)} has a quality of ${quality(reached)}, on all of ${quality(seen)}. How good the larger model is on all is not known from this traffic; fill in judged_score, ${WAY_OUT}`;
}

/** Models by size, each with its card. */
function rankModels(answersOf: ReadonlyMap<string, Answers>, names: ModelNames): Read<readonly RankedModel[]> {
  const ranked: RankedModel[] = [];
  for (const [tableName, answers] of [...answersOf].sort(([, a], [, b]) => a.sizeRank - b.sizeRank)) {
    const model = resolveModel(tableName, names.aliases, names.models);
    if (model === undefined) return { ok: false, problem: unknownModelProblem(tableName, names) };
    const sameCard = ranked.find((other) => other.model === model);
    if (sameCard !== undefined) {
      return {
        ok: false,
        problem: `model ${shown(tableName)} has the card ${model}, as has ${shown(sameCard.tableName)}; ${mapping(tableName)} gives it another`,
      };
    }
    const previous = ranked[ranked.length - 1];
    if (previous?.answers.sizeRank === answers.sizeRank) {
      return {
        ok: false,
        problem: `size_rank ${answers.sizeRank} is that of ${shown(previous.tableName)} and of ${shown(tableName)}; number the models by size`,
      };
    }
    ranked.push({ model, tableName, answers });
  }
  return { ok: true, value: ranked };
}

/** The error in a model name that matches no card, and how to name one. */
export function unknownModelProblem(tableName: string, { aliases, models = modelCards }: ModelNames): string {
  const alias = Object.hasOwn(aliases, tableName) ? aliases[tableName] : undefined;
  const what = alias === undefined ? "has no model card" : `is mapped to ${shown(alias)}, which is no model card`;
  const alike = (id: string): number => commonPrefix(plain(id), plain(alias ?? tableName));
  const suggested = Object.keys(models)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, SUGGESTED_CARDS);
  return `model ${shown(tableName)} ${what}; name one with ${mapping(tableName)}, for instance ${suggested.join(", ")}`;
}

const mapping = (tableName: string): string => `--models ${shown(`${tableName}=card`)}`;

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Judged scores are for all answers or for none: a gate cannot read half of them. */
function judgedProblem(models: readonly RankedModel[], kept: readonly number[]): string | null {
  const missingOf = models.map(({ answers }) => kept.filter((place) => Number.isNaN(answers.judged[place] ?? Number.NaN)).length);
  const missing = missingOf.reduce((sum, count) => sum + count, 0);
  const all = kept.length * models.length;
  if (missing === 0 || missing === all) return null;
  return `judged_score is empty in ${missing} of ${all} rows; fill in all of them or leave the column out`;
}

/** Scores of other gates are for all answers of a model or for none; a last stage may have none. */
function gateColumnProblem(models: readonly RankedModel[], kept: readonly number[]): string | null {
  for (const { tableName, answers } of models) {
    for (const name of gateColumns) {
      const missing = kept.filter((place) => Number.isNaN(answers[name]?.[place] ?? Number.NaN)).length;
      if (missing > 0 && missing < kept.length)
        return `${name} is empty in ${missing} of ${kept.length} rows of ${shown(tableName)}; fill in all of them or none`;
    }
  }
  return null;
}

function outcomesOf({ model, tableName, answers }: RankedModel, kept: readonly number[]): LabelledOutcomes {
  const judged = Float64Array.from(kept, (place) => answers.judged[place] ?? Number.NaN);
  return {
    model,
    tableName,
    outputTokens: Int32Array.from(kept, (place) => answers.outputTokens[place] ?? 0),
    label: Float64Array.from(kept, (place) => answers.label[place] ?? Number.NaN),
    judged: judged.some(Number.isNaN) ? null : judged,
    ...Object.fromEntries(
      gateColumns.flatMap((name) => {
        const column = Float64Array.from(kept, (place) => answers[name]?.[place] ?? Number.NaN);
        return column.some(Number.isNaN) ? [] : [[name, column]];
      }),
    ),
  };
}
