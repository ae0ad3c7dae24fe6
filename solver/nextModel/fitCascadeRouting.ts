import type { Calibration } from "@/solver/gates/gateDocument";
import { calibratedScore } from "@/solver/gates/gates";
import { logOdds, priorBelief, rightAt } from "./belief";
import type { CascadeRoutingDocument, RoutedGate } from "./cascadeRoutingDocument";
import { fitRisingCalibration } from "./risingCalibration";

/** What planning prompts tell of one stage's model, parallel arrays over the prompts. */
export interface StageColumns {
  /** Router scores, 0..100: out of fold where the heads were trained on these prompts. */
  readonly routerScore: Float64Array;
  /** 0..100. */
  readonly label: Float64Array;
  /** Scores of the stage's gate, as it gives them; not read of the last stage. */
  readonly gateScore: Float64Array;
  /** Which gate it is and what a score of it takes; left out: the judge with its scores as they are, counted with the stage. */
  readonly gate?: Pick<RoutedGate, "kind" | "gpuSeconds">;
}

/** Most rounds of the two steps of the fit, and the change of the slopes and weights below which it ends. */
const ROUNDS = 60;
const LEAST_CHANGE = 1e-3;

/** Prompts added to each pattern, so that one which never occurred is not impossible. */
const ADDED_PROMPTS = 0.5;

/** Pulls slopes towards 0, in prompts: a head that says nothing then has a slope near 0. */
const SLOPE_RIDGE = 2;

/** Groups of a gate's scores that decisions look ahead over: with more, decisions on the public tables no longer change. */
const GATE_LEVELS = 8;

/**
 * Fits what cascade routing reads on planning prompts: the joint distribution of right answers given the heads' scores, by maximum likelihood
 * (a log-linear model; its two steps alternate: iterative scaling of the pattern weights, which makes expected counts of patterns those
 * observed, and a Newton step for each head's slope), and each gate's calibration. A label of 70 counts as right in 70 % of the cases.
 *
 * @param stages ascending by model; every column has the same number of prompts.
 * @returns null where there are fewer labelled answers than a calibration needs.
 */
export function fitCascadeRouting(
  stages: readonly StageColumns[],
): Omit<CascadeRoutingDocument, "gpuSeconds" | "pointsPerGpuSecond"> | null {
  const gates: RoutedGate[] = [];
  for (const { gateScore, label, gate } of stages.slice(0, -1)) {
    const answers = Array.from(gateScore, (score, prompt) => ({ score, label: label[prompt] ?? 0 }));
    const calibration: Calibration | null = fitRisingCalibration(answers);
    if (calibration === null) return null;
    gates.push({ ...gate, calibration, levels: levelsOf(answers.map(({ score }) => calibratedScore(score, calibration))) });
  }
  return { ...fitHeads(stages), gates };
}

function fitHeads(stages: readonly StageColumns[]): Pick<CascadeRoutingDocument, "heads" | "patterns"> {
  const prompts = stages[0]?.label.length ?? 0;
  const size = 2 ** stages.length;
  const odds = stages.map(({ routerScore }) => routerScore.map(logOdds));
  const centres = odds.map((own) => own.reduce((sum, value) => sum + value, 0) / prompts);
  const observed = new Float64Array(size).fill(ADDED_PROMPTS);
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    for (let pattern = 0; pattern < size; pattern += 1) {
      const weight = stages.reduce((product, { label }, stage) => {
        const right = (label[prompt] ?? 0) / 100;
        return product * (((pattern >> stage) & 1) === 1 ? right : 1 - right);
      }, 1);
      observed[pattern] = (observed[pattern] ?? 0) + weight;
    }
  }
  const patterns = Array.from(observed, (count) => Math.log(count / prompts));
  const slopes = stages.map(() => 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const document = { patterns, heads: slopes.map((slope, stage) => ({ slope, centre: centres[stage] ?? 0 })) };
    const expected = new Float64Array(size).fill(ADDED_PROMPTS);
    const gradient = slopes.map((slope) => -SLOPE_RIDGE * slope);
    const curvature = slopes.map(() => SLOPE_RIDGE);
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const belief = priorBelief(
        document,
        stages.map(({ routerScore }) => routerScore[prompt] ?? 50),
      );
      for (const [pattern, probability] of belief.entries()) expected[pattern] = (expected[pattern] ?? 0) + probability;
      for (const [stage, own] of stages.entries()) {
        const right = rightAt(belief, stage);
        const away = (odds[stage]?.[prompt] ?? 0) - (centres[stage] ?? 0);
        gradient[stage] = (gradient[stage] ?? 0) + away * ((own.label[prompt] ?? 0) / 100 - right);
        curvature[stage] = (curvature[stage] ?? 0) + away * away * right * (1 - right);
      }
    }
    let change = 0;
    for (let pattern = 0; pattern < size; pattern += 1) {
      const step = Math.log((observed[pattern] ?? 1) / (expected[pattern] ?? 1));
      patterns[pattern] = (patterns[pattern] ?? 0) + step;
      change = Math.max(change, Math.abs(step));
    }
    // Slopes move at once although they depend on one another, so each takes half its step. A head that says the opposite is one of chance.
    for (const [stage, slope] of slopes.entries()) {
      const moved = Math.max(0, slope + (gradient[stage] ?? 0) / (curvature[stage] ?? 1) / 2);
      slopes[stage] = moved;
      change = Math.max(change, Math.abs(moved - slope));
    }
    if (change < LEAST_CHANGE) break;
  }
  return { patterns, heads: slopes.map((slope, stage) => ({ slope, centre: centres[stage] ?? 0 })) };
}

/** Calibrated scores in groups of about equal size, equal scores in one. */
function levelsOf(calibrated: readonly number[]): RoutedGate["levels"] {
  const ascending = calibrated.toSorted((a, b) => a - b);
  const groups: { sum: number; count: number; last: number }[] = [];
  for (const score of ascending) {
    const group = groups.at(-1);
    if (group !== undefined && (group.last === score || group.count < ascending.length / GATE_LEVELS)) {
      group.sum += score;
      group.count += 1;
      group.last = score;
    } else groups.push({ sum: score, count: 1, last: score });
  }
  return groups.map(({ sum, count }) => ({ score: sum / count, share: count / ascending.length }));
}
