import type { AnswerSampleSummary, ReplayRequest } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { EnsemblesView } from "../address/ensemblesCodec";

/** In the address: no model replaces the aggregator. */
export const NO_AGGREGATOR = "none";

const DEFAULT_POINTS = 1;
const DEFAULT_EXPERTS = 3;

/** A gate to replay, from the address and the available data. */
export interface GateChoice {
  readonly sample: AnswerSampleSummary;
  readonly request: Omit<ReplayRequest, "sampleId">;
  /** The address names a sample that does not exist. */
  readonly strayed: boolean;
  /** A reservation about its figures, in a sentence; null: none. */
  readonly doubt: string | null;
  /** Why it cannot be replayed; null: it can. */
  readonly hindered: string | null;
}

type Chosen = Pick<EnsemblesView, "sample" | "experts" | "asked" | "aggregator" | "confidence" | "allowed">;

/** By accuracy on the sample, best first. */
const byAccuracy = ({ models }: AnswerSampleSummary): readonly string[] =>
  models.toSorted((a, b) => b.accuracy - a.accuracy).map(({ model }) => model);

/**
 * Default experts: the ensemble's where the sample has at least two of them, else those below the best, which is left as the aggregator.
 */
function expertsOf(sample: AnswerSampleSummary, ensemble: Ensemble | null): readonly string[] {
  const known = (ensemble?.experts ?? []).filter((expert) => sample.models.some(({ model }) => model === expert));
  if (known.length >= 2) return known;
  const ranked = byAccuracy(sample);
  return ranked.length > DEFAULT_EXPERTS ? ranked.slice(1, 1 + DEFAULT_EXPERTS) : ranked;
}

/** Default model in place of the aggregator: the ensemble's own, unless it is an expert as well and another is available. */
function aggregatorOf(sample: AnswerSampleSummary, experts: readonly string[], ensemble: Ensemble | null): string | null {
  const own = sample.models.find(({ model }) => model === ensemble?.aggregator.model)?.model ?? null;
  if (own !== null && !experts.includes(own)) return own;
  return byAccuracy(sample).find((model) => !experts.includes(model)) ?? own;
}

/** The replay request; null: there is no sample. @param ensemble gives the defaults; null: there is none. */
export function prepareGateChoice(samples: readonly AnswerSampleSummary[], view: Chosen, ensemble: Ensemble | null): GateChoice | null {
  const named = samples.find(({ id }) => id === view.sample);
  const sample = named ?? suited(samples, ensemble);
  if (sample === undefined) return null;
  const has = (model: string) => sample.models.some((each) => each.model === model);
  const experts = view.experts?.filter(has) ?? expertsOf(sample, ensemble);
  const aggregator =
    view.aggregator === NO_AGGREGATOR
      ? null
      : view.aggregator !== null && has(view.aggregator)
        ? view.aggregator
        : aggregatorOf(sample, experts, ensemble);
  const isItsOwn = experts.length === ensemble?.experts.length && experts.every((expert) => ensemble.experts.includes(expert));
  const usual = isItsOwn ? ensemble.expertsPerQuestion : DEFAULT_EXPERTS;
  const expertsPerQuestion = Math.max(2, Math.min(view.asked ?? usual, experts.length));
  return {
    sample,
    strayed: view.sample !== null && named === undefined,
    doubt:
      aggregator !== null && experts.includes(aggregator)
        ? `${aggregator} is an expert here and stands in for the aggregator as well: its answer is compared with itself, so that skipping seems to cost less than it does.`
        : null,
    request: {
      experts: [...experts],
      expertsPerQuestion,
      aggregator,
      confidence: view.confidence ?? ensemble?.confidence.kind ?? "plurality",
      allowedPoints: view.allowed ?? DEFAULT_POINTS,
    },
    hindered: experts.length < 2 ? "Choose two experts or more: fewer cannot disagree." : null,
  };
}

/** The sample with answers of most of the ensemble's experts, the newest of them. */
function suited(samples: readonly AnswerSampleSummary[], ensemble: Ensemble | null): AnswerSampleSummary | undefined {
  const knows = ({ models }: AnswerSampleSummary) => models.filter(({ model }) => ensemble?.experts.includes(model)).length;
  return samples.toSorted((a, b) => knows(b) - knows(a))[0];
}
