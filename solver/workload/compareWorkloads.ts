import { shareOf } from "../numeric/interval";
import { differenceOf, type Interval, isApart, lengthInterval, pairedDifference, qualityInterval, rateInterval } from "./contentIntervals";
import type { ModelOutcomes, OutcomeTable, Workload } from "./workload";

/** One figure in both workloads; null where one does not have it. */
export interface Compared {
  readonly a: Interval | null;
  readonly b: Interval | null;
  /** Increase in `b`. */
  readonly difference: Interval | null;
  /** Whether that exceeds the sampling error of the number of prompts. */
  readonly apart: boolean;
}

interface ComparedModel {
  readonly model: string;
  /** Mean label, 0..100. */
  readonly quality: Compared;
  /** Mean judged score, 0..100. */
  readonly judged: Compared;
  readonly outputTokens: Compared;
}

/** The content of two workloads, figure by figure with 90 % intervals. */
export interface ComparedContent {
  readonly prompts: { readonly a: number; readonly b: number; readonly shared: number };
  /** Identical content. Qualities and scores of the same prompts are compared prompt by prompt. */
  readonly same: { readonly prompts: boolean; readonly outcomes: boolean; readonly arrivals: boolean };
  readonly inputTokens: Compared;
  /** As recorded. */
  readonly requestsPerSecond: Compared;
  /** Smallest first as in `a`, then those of `b` only. */
  readonly models: readonly ComparedModel[];
  /** Shares of the prompts, largest first. */
  readonly categories: readonly { readonly name: string; readonly share: Compared }[];
}

type Content = Pick<Workload, "outcomes" | "arrivalSeconds">;

/** Compares the content of two workloads. A prompt is the same where id, category and input tokens are. */
export function compareWorkloads(a: Content, b: Content): ComparedContent {
  const rowsOfB = new Map(Array.from(b.outcomes.promptIds.keys(), (row) => [promptKey(b.outcomes, row), row]));
  const partners = Array.from(a.outcomes.promptIds.keys(), (row) => rowsOfB.get(promptKey(a.outcomes, row)));
  const shared = partners.filter((row) => row !== undefined).length;
  const samePrompts = shared === a.outcomes.promptIds.length && rowsOfB.size === shared && shared === b.outcomes.promptIds.length;
  const partner = samePrompts ? Int32Array.from(partners, (row) => row ?? 0) : null;
  const models = [...new Set([...a.outcomes.models, ...b.outcomes.models].map(({ model }) => model))];
  return {
    prompts: { a: a.outcomes.promptIds.length, b: b.outcomes.promptIds.length, shared },
    same: {
      prompts: samePrompts,
      outcomes: partner !== null && sameOutcomes(a.outcomes, b.outcomes, partner),
      arrivals: equal(a.arrivalSeconds, b.arrivalSeconds),
    },
    inputTokens: apartFrom(lengthInterval(a.outcomes.inputTokens), lengthInterval(b.outcomes.inputTokens), samePrompts),
    requestsPerSecond: apartFrom(rateInterval(a.arrivalSeconds), rateInterval(b.arrivalSeconds), equal(a.arrivalSeconds, b.arrivalSeconds)),
    models: models.map((model) => comparedModel(model, columnOf(a, model), columnOf(b, model), partner)),
    categories: comparedCategories(a.outcomes, b.outcomes, samePrompts),
  };
}

const promptKey = ({ promptIds, categories, inputTokens }: OutcomeTable, row: number): string =>
  JSON.stringify([promptIds[row], categories[row], inputTokens[row]]);

const columnOf = ({ outcomes }: Content, model: string) => outcomes.models.find((own) => own.model === model) ?? null;

function comparedModel(model: string, a: ModelOutcomes | null, b: ModelOutcomes | null, partner: Int32Array | null): ComparedModel {
  const scores = (name: "label" | "judged"): Compared => {
    const [first, second] = [a?.[name] ?? null, b?.[name] ?? null];
    const [inA, inB] = [first === null ? null : qualityInterval(first), second === null ? null : qualityInterval(second)];
    if (first === null || second === null || partner === null) return apartFrom(inA, inB, false);
    const matched = Float64Array.from(partner, (row) => second[row] ?? 0);
    const difference = equal(first, matched) ? null : pairedDifference(matched, first);
    return difference === null ? apartFrom(inA, inB, true) : { a: inA, b: inB, difference, apart: isApart(difference) };
  };
  const sameLengths =
    a !== null && b !== null && partner !== null && a.outputTokens.every((tokens, row) => tokens === b.outputTokens[partner[row] ?? 0]);
  return {
    model,
    quality: scores("label"),
    judged: scores("judged"),
    outputTokens: apartFrom(a && lengthInterval(a.outputTokens), b && lengthInterval(b.outputTokens), sameLengths),
  };
}

function comparedCategories(a: OutcomeTable, b: OutcomeTable, same: boolean): ComparedContent["categories"] {
  const [inA, inB] = [countBy(a.categories), countBy(b.categories)];
  const share = (counts: ReadonlyMap<string, number>, name: string, prompts: number) => shareOf(counts.get(name) ?? 0, prompts);
  return [...new Set([...inA.keys(), ...inB.keys()])]
    .map((name) => ({
      name,
      share: apartFrom(share(inA, name, a.categories.length), share(inB, name, b.categories.length), same),
    }))
    .sort((first, second) => largest(second.share) - largest(first.share));
}

const largest = ({ a, b }: Compared): number => Math.max(a?.value ?? 0, b?.value ?? 0);

/** @param same no sampling error: the difference is exactly zero. */
function apartFrom(a: Interval | null, b: Interval | null, same: boolean): Compared {
  if (a === null || b === null) return { a, b, difference: null, apart: false };
  if (same) return { a, b, difference: { value: 0, low: 0, high: 0 }, apart: false };
  const difference = differenceOf(b, a);
  return { a, b, difference, apart: isApart(difference) };
}

function sameOutcomes(a: OutcomeTable, b: OutcomeTable, partner: Int32Array): boolean {
  if (a.models.length !== b.models.length) return false;
  return a.models.every((own) => {
    const other = b.models.find(({ model }) => model === own.model);
    return (
      other !== undefined &&
      partner.every(
        (row, at) =>
          own.outputTokens[at] === other.outputTokens[row] && own.label[at] === other.label[row] && own.judged[at] === other.judged[row],
      )
    );
  });
}

const equal = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && a.every((value, at) => value === b[at]);

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
