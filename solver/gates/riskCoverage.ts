import type { LabelledScore } from "@/solver/judging/pairCounts";
import { resampledCounts } from "@/solver/numeric/bootstrap";
import type { Interval } from "@/solver/numeric/interval";
import { quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";

/** Mean loss of quality of the accepted answers, 0..100, where the answers with the highest scores are accepted. */
interface RiskAtCoverage {
  /** Share of answers that are accepted, above 0 to 1. */
  readonly coverage: number;
  readonly risk: number;
}

export interface RiskCoverage {
  /** At each twentieth of the answers, ascending. */
  readonly curve: readonly RiskAtCoverage[];
  /** Mean risk over all coverages, in points: lower is better. With a bootstrap interval of 90 %. */
  readonly area: Interval;
}

const CURVE_POINTS = 20;

/**
 * The risk-coverage curve of a gate and the area under it (El-Yaniv and Wiener, JMLR 11, 2010; Geifman and El-Yaniv, NIPS 2017). Answers with
 * equal scores count in expectation over their order, so that a gate of few different scores gains nothing by chance.
 *
 * @param answers at least one.
 * @param seed of the bootstrap's draws.
 */
export function riskCoverage(answers: readonly LabelledScore[], seed: number): RiskCoverage {
  const groups = groupsOf([answers.map(({ score }) => score)]);
  const losses = answers.map(({ label }) => 100 - label);
  const risks = risksOf(groups[0] ?? [], losses, ones(answers.length));
  const [areas = []] = resampledAreas(groups, losses, seed);
  return {
    curve: Array.from({ length: CURVE_POINTS }, (_, at) => {
      const accepted = Math.max(1, Math.round(((at + 1) / CURVE_POINTS) * answers.length));
      return { coverage: accepted / answers.length, risk: risks[accepted - 1] ?? 0 };
    }),
    area: { value: meanOf(risks), low: quantile(areas, 0.05), high: quantile(areas, 0.95) },
  };
}

/** The area under the risk-coverage curve alone, in points. */
export function riskCoverageArea(answers: readonly LabelledScore[]): number {
  const [groups = []] = groupsOf([answers.map(({ score }) => score)]);
  return meanOf(
    risksOf(
      groups,
      answers.map(({ label }) => 100 - label),
      ones(answers.length),
    ),
  );
}

/**
 * How much larger the area under the risk-coverage curve is with the other scores of the same answers, in points, with a bootstrap interval
 * of 90 % over the same resamples of both.
 */
export function areaDifference(answers: readonly LabelledScore[], otherScores: ArrayLike<number>, seed: number): Interval {
  const groups = groupsOf([answers.map(({ score }) => score), answers.map((_, at) => otherScores[at] ?? 0)]);
  const losses = answers.map(({ label }) => 100 - label);
  const whole = groups.map((own) => meanOf(risksOf(own, losses, ones(answers.length))));
  const [own = [], other = []] = resampledAreas(groups, losses, seed);
  const differences = own.map((area, at) => (other[at] ?? 0) - area);
  return { value: (whole[1] ?? 0) - (whole[0] ?? 0), low: quantile(differences, 0.05), high: quantile(differences, 0.95) };
}

/** Answers by score, the highest first; those of one score together. */
type ScoreGroups = readonly (readonly number[])[];

function groupsOf(scores: readonly (readonly number[])[]): readonly ScoreGroups[] {
  return scores.map((own) => {
    const groups: number[][] = [];
    let last = Number.NaN;
    for (const at of [...own.keys()].sort((a, b) => (own[b] ?? 0) - (own[a] ?? 0))) {
      if (own[at] === last) groups.at(-1)?.push(at);
      else groups.push([at]);
      last = own[at] ?? Number.NaN;
    }
    return groups;
  });
}

/** Risk where 1, 2 … answers are accepted, each counted as often as it was drawn. */
function risksOf(groups: ScoreGroups, losses: readonly number[], drawn: ArrayLike<number>): number[] {
  const risks: number[] = [];
  let [accepted, lost] = [0, 0];
  for (const group of groups) {
    let [count, loss] = [0, 0];
    for (const at of group) {
      count += drawn[at] ?? 0;
      loss += (drawn[at] ?? 0) * (losses[at] ?? 0);
    }
    for (let each = 1; each <= count; each += 1) risks.push((lost + (each / count) * loss) / (accepted + each));
    accepted += count;
    lost += loss;
  }
  return risks;
}

/** Areas of each of the groupings over the same resamples of the answers. */
function resampledAreas(groupings: readonly ScoreGroups[], losses: readonly number[], seed: number): readonly number[][] {
  const areas = groupings.map((): number[] => []);
  for (const drawn of resampledCounts(losses.length, mixSeed(seed, "risk-coverage")))
    for (const [which, groups] of groupings.entries()) areas[which]?.push(meanOf(risksOf(groups, losses, drawn)));
  return areas;
}

const ones = (count: number): Int32Array => new Int32Array(count).fill(1);

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
