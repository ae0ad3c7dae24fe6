import { expect, test } from "vitest";
import { normalCdf, normalQuantile } from "../numeric/normal";
import { mixSeed, type Random, seededRandom } from "../numeric/random";
import { generatedWorkload } from "../workload/generated";
import { modelledScores } from "../workload/judgeModel";
import { aucOf, aucWithin } from "./concordance";
import { answerOrder } from "./labelOrder";
import type { LabelledScore } from "./pairCounts";

type Ends = { readonly low: number; readonly high: number };
const LABELS = 50;
const NORMAL_90 = 1.6449;

test.each([0.7, 0.8, 0.9, 1])(
  "50 hand labels, chosen as the studio chooses them, cover a table's true AUC of about %d in at least 85 of 100 seeds",
  (auc) => {
    const { models } = generatedWorkload({ prompts: 500, seed: 11 }).outcomes;
    const label = Float64Array.from(models.flatMap((column) => Array.from(column.label)));
    let covered = 0;
    let width = 0;
    for (let seed = 0; seed < 100; seed += 1) {
      const scores = modelledScores(label, { auc, seed });
      const table = Array.from(label, (quality, at) => ({ label: quality, score: scores[at] ?? 0 }));
      const chosen = answerOrder(`job-${seed}`, 500, models.length).subarray(0, LABELS);
      // Answers are indexed by prompt here, and by model in the table.
      const labelled = Array.from(chosen, (at) => table[(at % models.length) * 500 + Math.floor(at / models.length)]!);
      const { low, high } = aucOf(labelled)!;
      const truth = areaUnderCurve(table);
      expect(Math.abs(truth - auc)).toBeLessThan(0.06);
      if (low <= truth && truth <= high) covered += 1;
      width += (high - low) / 100;
    }
    expect(covered).toBeGreaterThanOrEqual(85);
    expect(width).toBeLessThan(0.3);
  },
);

test.each([0.5, 0.7, 0.8, 0.9])("within models too 50 labels cover the true AUC of about %d in at least 85 of 100 seeds", (auc) => {
  const { models } = generatedWorkload({ prompts: 500, seed: 11 }).outcomes;
  const label = Float64Array.from(models.flatMap((column) => Array.from(column.label)));
  let covered = 0;
  let width = 0;
  for (let seed = 0; seed < 100; seed += 1) {
    const scores = modelledScores(label, { auc, seed });
    const groups = models.map((_, model) =>
      Array.from({ length: 500 }, (_, at) => ({ label: label[model * 500 + at]!, score: scores[model * 500 + at]! })),
    );
    const chosen = Array.from(answerOrder(`job-${seed}`, 500, models.length).subarray(0, LABELS));
    const { low, high } = aucWithin(
      groups.map((group, model) => chosen.filter((at) => at % models.length === model).map((at) => group[Math.floor(at / models.length)]!)),
    )!;
    const truth = aucWithin(groups)!.value;
    if (low <= truth && truth <= high) covered += 1;
    width += (high - low) / 100;
  }
  expect(covered).toBeGreaterThanOrEqual(85);
  expect(width).toBeLessThan(0.32);
});

/** AUC of right or wrong answers, by counting them at each score. */
function areaUnderCurve(answers: readonly LabelledScore[]): number {
  const wrong = new Float64Array(102);
  for (const { score, label } of answers) if (label === 0) wrong[score + 1]! += 1;
  const below = wrong.map(
    (
      (sum) => (count: number) =>
        (sum += count)
    )(0),
  );
  const right = answers.filter(({ label }) => label === 100);
  const won = right.reduce((sum, { score }) => sum + (below[score]! + below[score + 1]!) / 2, 0);
  return won / (right.length * (answers.length - right.length));
}

/** Coverage, over many samples, of an interval computed from right or wrong answers. */
function held(interval: (answers: readonly LabelledScore[], random: Random) => Ends, auc: number, right: number) {
  const random = seededRandom(mixSeed("auc intervals", auc, right));
  const apart = Math.SQRT2 * normalQuantile(auc);
  const ends: Ends[] = [];
  while (ends.length < 250) {
    const answers = Array.from({ length: LABELS }, () => {
      const label = random.next() < right ? 100 : 0;
      return { label, score: Math.round(100 * normalCdf(apart * (label / 100 - 0.5) + random.normal())) };
    });
    if (new Set(answers.map(({ label }) => label)).size === 2) ends.push(interval(answers, random));
  }
  return ends.filter(({ low, high }) => low <= auc && auc <= high).length / ends.length;
}

test.each([
  [0.7, 0.6],
  [0.8, 0.75],
  [0.8, 0.9],
  [0.9, 0.9],
  [0.97, 0.9],
])("at an AUC of %d with %d of the answers right, the interval keeps its coverage", (auc, right) => {
  expect(held((answers) => aucOf(answers)!, auc, right)).toBeGreaterThan(0.86);
});

test("with few wrong answers DeLong's interval on the logit scale and a stratified BCa bootstrap lose theirs", () => {
  expect(held(delong, 0.97, 0.9)).toBeLessThan(0.85);
  expect(held(bca, 0.97, 0.9)).toBeLessThan(0.85);
}, 60_000);

test("graded labels keep their coverage too, and bear narrower intervals than right or wrong ones", () => {
  for (const grades of [5, 3]) {
    const random = seededRandom(mixSeed("graded", grades));
    const draw = (): LabelledScore => {
      const label = (100 * random.int(grades)) / (grades - 1);
      return { label, score: Math.round(100 * normalCdf(2 * (label / 100 - 0.5) + random.normal())) };
    };
    const truth = aucOf(Array.from({ length: 3000 }, draw))!.value;
    const ends = Array.from({ length: 250 }, () => aucOf(Array.from({ length: LABELS }, draw))!);
    expect(ends.filter(({ low, high }) => low <= truth && truth <= high).length / ends.length).toBeGreaterThan(0.85);
    expect(ends.reduce((sum, { low, high }) => sum + high - low, 0) / ends.length).toBeLessThan(grades === 5 ? 0.18 : 0.2);
  }
});

function placements(better: readonly number[], worse: readonly number[]) {
  const won = (a: number, b: number): number => (a > b ? 1 : a === b ? 0.5 : 0);
  const ofBetter = better.map((a) => worse.reduce((sum, b) => sum + won(a, b), 0) / worse.length);
  const ofWorse = worse.map((b) => better.reduce((sum, a) => sum + won(a, b), 0) / better.length);
  return { ofBetter, ofWorse, auc: ofBetter.reduce((sum, each) => sum + each, 0) / better.length };
}

const parts = (answers: readonly LabelledScore[]) =>
  [100, 0].map((quality) => answers.filter(({ label }) => label === quality).map(({ score }) => score)) as [number[], number[]];

/** DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988), on the logit scale. */
function delong(answers: readonly LabelledScore[]): Ends {
  const { ofBetter, ofWorse, auc } = placements(...parts(answers));
  if (auc >= 1 || ofWorse.length < 2 || ofBetter.length < 2) return { low: auc >= 1 ? 1 : 0, high: 1 };
  const variance = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + (value - auc) ** 2, 0) / (values.length - 1) / values.length;
  const half = (NORMAL_90 * Math.sqrt(variance(ofBetter) + variance(ofWorse))) / (auc * (1 - auc));
  const back = (logit: number): number => 1 / (1 + Math.exp(-logit));
  const logit = Math.log(auc / (1 - auc));
  return { low: back(logit - half), high: back(logit + half) };
}

/** Efron's bias-corrected and accelerated bootstrap (JASA 82, 1987), better and worse answers drawn apart. */
function bca(answers: readonly LabelledScore[], random: Random): Ends {
  const [better, worse] = parts(answers);
  const { auc } = placements(better, worse);
  const drawn = (values: readonly number[]): number[] => values.map(() => values[random.int(values.length)]!);
  const draws = Array.from({ length: 300 }, () => placements(drawn(better), drawn(worse)).auc).sort((a, b) => a - b);
  const below = draws.reduce((sum, draw) => sum + (draw < auc ? 1 : draw === auc ? 0.5 : 0), 0) / draws.length;
  const bias = normalQuantile(Math.min(1 - 1 / 300, Math.max(1 / 300, below)));
  const without = (values: readonly number[], at: number): number[] => values.filter((_, other) => other !== at);
  const left = [
    ...better.map((_, at) => placements(without(better, at), worse).auc),
    ...(worse.length > 1 ? worse.map((_, at) => placements(better, without(worse, at)).auc) : []),
  ];
  const mean = left.reduce((sum, value) => sum + value, 0) / left.length;
  const power = (exponent: number): number => left.reduce((sum, value) => sum + (mean - value) ** exponent, 0);
  const acceleration = power(2) > 0 ? power(3) / (6 * power(2) ** 1.5) : 0;
  const at = (z: number): number => {
    const shifted = bias + (bias + z) / (1 - acceleration * (bias + z));
    return draws[Math.min(299, Math.floor(300 * normalCdf(shifted)))]!;
  };
  return { low: at(-NORMAL_90), high: at(NORMAL_90) };
}
