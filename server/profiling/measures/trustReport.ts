import type { Measure, MeasureTrust, ProfileTrust } from "@/server/contracts/studio";
import type { HandLabel } from "@/server/store/handLabelRepository";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import { agreementOf, agreementOnPairs, calibrationOf } from "@/solver/judging/agreement";
import { aucOf, aucWithin, concordanceOfPairs, labelsToHalve } from "@/solver/judging/concordance";
import { type CascadeStep, floorFit } from "@/solver/judging/floorFit";
import { noisePoints, orderFlips } from "@/solver/judging/noise";
import type { LabelledScore } from "@/solver/judging/pairCounts";
import type { Interval } from "@/solver/numeric/interval";
import { countedScore } from "./readings";

/** Labels after which intervals hardly narrow: from there it takes four times as many to halve them. */
export const ADVISED_LABELS = 50;

/** Of a model, before its labels say how good its answers are. */
const LEAST_OF_MODEL = 5;

/**
 * A measure counts as the truth if it orders answers at least this well, with confidence, and its scores are this close to the labels in
 * the mean.
 */
const TRUE_FROM = { auc: 0.8, points: 10 };

/** Prompts that models are compared on, evenly spread: their means are known to a point or so, and a page waits for it. */
const LOOKED_AT = 2000;

interface LabelledPair {
  readonly difference: number;
  readonly preference: number;
}

/** The evidence of manual labels on one measure. */
interface Evidence {
  readonly measure: Measure;
  readonly answers: readonly LabelledScore[];
  /** The same answers by model. */
  readonly byModel: ReadonlyMap<string, readonly LabelledScore[]>;
  readonly pairs: readonly LabelledPair[];
  /** Of pairs of answers of one model, since a gate has no others before it; null of a measure that compares. */
  readonly within: Interval | null;
  /** The same, or of a measure that compares that of the pairs which a person compared. */
  readonly auc: Interval | null;
}

/** How far each measure of a profile can be trusted according to its manual labels, for a quality floor of 0..100. */
export function trustReport(store: Store, profile: StoredProfile, floor: number): Omit<ProfileTrust, "recheck"> {
  const labels = store.handLabels.list(profile.id);
  const all = profile.request.measures.map((measure) => evidenceOf(store, profile, measure, labels));
  return { floor, labels: labels.length, measures: all.map((one) => trustOf(store, profile, { one, all, labels, floor })) };
}

function evidenceOf(store: Store, { id }: StoredProfile, measure: Measure, labels: readonly HandLabel[]): Evidence {
  const readings = new Map<string, (number | null)[]>();
  const positions = [...new Set(labels.map(({ position }) => position))];
  for (const { position, model, reading, score } of store.handLabels.readings(id, measure.id, positions)) {
    const scores = readings.get(`${position} ${model}`) ?? [];
    scores[reading] = score;
    readings.set(`${position} ${model}`, scores);
  }
  const scoreAt = (position: number, model: string): number | null => countedScore(measure, readings.get(`${position} ${model}`) ?? []);
  // What won against another answer is not thereby good, and what compares two models says nothing of a third.
  const compares = measure.kind === "pairwise";
  const byModel = new Map<string, LabelledScore[]>();
  for (const { position, model, otherModel, quality } of labels) {
    const score = otherModel === "" && !compares ? scoreAt(position, model) : null;
    if (score !== null) byModel.set(model, [...(byModel.get(model) ?? []), { score, label: quality }]);
  }
  const pairs = labels.flatMap(({ position, model, otherModel, quality }) => {
    if (otherModel === "" || (compares && model !== measure.against && otherModel !== measure.against)) return [];
    const [first, second] = [scoreAt(position, model), scoreAt(position, otherModel)];
    return first === null || second === null ? [] : [{ difference: first - second, preference: quality - 50 }];
  });
  const groups = [...byModel.values()];
  const within = aucWithin(groups);
  // Pairs are of two models, and a gate reads the scores of one.
  return { measure, answers: groups.flat(), byModel, pairs, within, auc: compares ? concordanceOfPairs(pairs) : within };
}

interface Asked {
  readonly one: Evidence;
  readonly all: readonly Evidence[];
  readonly labels: readonly HandLabel[];
  readonly floor: number;
}

function trustOf(store: Store, profile: StoredProfile, asked: Asked): MeasureTrust {
  const { measure, answers, pairs, auc } = asked.one;
  const swaps = measure.kind === "pairwise" && measure.swap;
  const repeats = "repeats" in measure && measure.repeats > 1;
  const readings = swaps || repeats ? store.profiles.readings(profile.id, measure.id) : [];
  const asking = measure.kind === "pairwise" ? readings.filter(({ model }) => model !== measure.against) : readings;
  return {
    measureId: measure.id,
    name: measure.name,
    labels: answers.length + pairs.length,
    agreement: measure.kind === "pairwise" ? agreementOnPairs(pairs) : agreementOf(answers),
    auc,
    aucByModel: [...asked.one.byModel].map(([model, own]) => ({ model, labels: own.length, auc: aucOf(own) })),
    calibration: calibrationOf(answers),
    noisePoints: repeats ? noisePoints(asking, swaps) : null,
    orderFlips: swaps ? orderFlips(asking) : null,
    usd: store.profiles.measureUsd(profile.id, measure.id),
    warning: warningOf(store, profile, asked),
  };
}

function warningOf(store: Store, profile: StoredProfile, asked: Asked): string | null {
  const { one, floor } = asked;
  const { within, answers, byModel, pairs, measure } = one;
  const labels = answers.length + pairs.length;
  if (labels === 0) return `Nobody has labelled what it scored: label about ${ADVISED_LABELS} answers by hand before a plan rests on it.`;
  const coinFrom = (low: number, more: string): string =>
    `By ${measure.kind === "pairwise" ? labels : answers.length} labels it may tell better answers from worse no more often than a coin does (AUC from ${downTo(low)} on). ${more}`;
  if (measure.kind === "pairwise") {
    const { auc } = one;
    if (auc === null) return alike(labels);
    return auc.low > 0.5 ? null : coinFrom(auc.low, "More labels narrow it.");
  }
  if (answers.length === 0) {
    return "Two answers compared do not tell how it orders answers of one model, which is all that a gate has before it: label single answers too.";
  }
  if (within === null) return alike(answers.length);
  const more = labelsToHalve([...byModel.values()]);
  const narrower = more === null ? "More labels narrow it." : `About ${more} more labels make its interval half as wide.`;
  const low = downTo(within.low);
  const coin = within.low > 0.5 ? null : coinFrom(within.low, narrower);
  if (measure.kind !== "rubric" && measure.kind !== "reference") return coin;
  if (profile.request.models.length < 2)
    return coin ?? "This profile has one model, so what a gate saves cannot be computed: profile a larger one too.";
  const steps = stepsOf(store, profile, asked);
  if (steps === null) {
    const unknown = `Nobody can tell yet whether it is fit for a floor of ${floor}: label until the largest model and a smaller one have ${LEAST_OF_MODEL} labels each.`;
    return coin === null ? unknown : `${unknown} ${coin}`;
  }
  const fitOf = (reliability: number) => floorFit(steps, floor / 100, reliability);
  const fit = fitOf(within.low);
  if (fit === "unneeded") return null;
  if (fit === "fit") {
    // A mean over models hides one whose answers it cannot judge.
    const smaller = profile.request.models.slice(0, -1).map(({ model }) => model);
    const weak = smaller.find((model) => {
      const own = aucOf(byModel.get(model) ?? []);
      return own !== null && fitOf(own.high) === "weak";
    });
    if (weak === undefined) return null;
    const own = aucOf(byModel.get(weak) ?? []);
    return `Of answers of ${weak} alone its AUC is at most ${(own?.high ?? 0).toFixed(2)}, too weak for a floor of ${floor}, though not of all models together. Plan without a gate behind ${weak}, or take a better judge.`;
  }
  if (fit === "unreachable") {
    const none = `No cascade of these models holds a floor of ${floor}, whoever judges: lower the floor or add a better model.`;
    return coin === null ? none : `${none} ${coin}`;
  }
  if (fitOf(within.value) === "weak") {
    return `An AUC of ${within.value.toFixed(2)} is too weak for a floor of ${floor}: a coin in its place needs hardly more answers of the largest model. Take a better judge or other words for it.`;
  }
  return `By ${answers.length} labels its AUC may be as low as ${low}, too weak for a floor of ${floor}: a coin in its place would need hardly more answers of the largest model. ${narrower}`;
}

/** As intervals are shown: never narrower than they are. */
const downTo = (low: number): string => (Math.floor(100 * low) / 100).toFixed(2);

const alike = (labels: number): string =>
  `Its ${labels === 1 ? "one label does" : `${labels} labels do`} not tell better answers of a model from worse ones of it: label on until some differ.`;

/**
 * The results of each smaller model and the largest one on the same prompts: by the other measure that the labels trust most, if one is
 * certainly good and as strict as they are, otherwise by the labels themselves, as if the largest were equally good wherever the smaller
 * one fails. null: too little is known.
 */
function stepsOf(store: Store, { id, promptSetId, request }: StoredProfile, { one, all, labels }: Asked): readonly CascadeStep[] | null {
  const models = request.models.map(({ model }) => model);
  const largest = models.at(-1) ?? "";
  const smaller = models.slice(0, -1);
  const [trusted] = all
    .filter((other) => other.measure !== one.measure && other.measure.kind !== "pairwise" && isTrue(other))
    .sort((a, b) => (b.within?.low ?? 0) - (a.within?.low ?? 0));
  if (trusted !== undefined) {
    const prompts = store.prompts.get(promptSetId)?.prompts ?? 0;
    const positions = Array.from({ length: Math.min(prompts, LOOKED_AT) }, (_, at) =>
      Math.floor((at * prompts) / Math.min(prompts, LOOKED_AT)),
    );
    const steps = smaller.map((model) =>
      store.handLabels.scoredTogether(id, positions, { measureId: trusted.measure.id, smaller: model, larger: largest }),
    );
    if (steps.every(({ prompts }) => prompts > 1)) {
      return steps.map(({ smaller: quality, larger, both }) => ({
        quality: quality / 100,
        largestWhereRight: quality > 0 ? both / quality / 100 : 0,
        largestWhereWrong: quality < 100 ? (100 * larger - both) / (100 - quality) / 100 : 0,
      }));
    }
  }
  const qualityOf = (wanted: string): number | null => {
    const of = labels.filter(({ model, otherModel }) => model === wanted && otherModel === "");
    return of.length < LEAST_OF_MODEL ? null : of.reduce((sum, { quality }) => sum + quality, 0) / of.length / 100;
  };
  const best = qualityOf(largest);
  const known = smaller.flatMap((model) => qualityOf(model) ?? []);
  if (best === null || known.length === 0) return null;
  return known.map((quality) => ({ quality, largestWhereRight: best, largestWhereWrong: best }));
}

function isTrue({ within, answers }: Evidence): boolean {
  const off = answers.reduce((sum, { score, label }) => sum + score - label, 0) / answers.length;
  return within !== null && within.low >= TRUE_FROM.auc && Math.abs(off) <= TRUE_FROM.points;
}
