import type { Mirror } from "@/server/contracts/studio";
import { cascadeOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { niceTicks } from "../charts/niceTicks";

/** Scores that share a bar. */
const BIN = 5;

export interface ScoreBar {
  /** The bar's lower end; it ends before the next one, the last with 100. */
  readonly from: number;
  /** Its position on the axis. */
  readonly middle: number;
  readonly count: number;
  /** "80 to 84". */
  readonly name: string;
}

export interface ScorePicture {
  readonly model: string;
  /** Kind of the gate that gave the scores; null in mirrors of older gateways, where it was the judge. */
  readonly gate: string | null;
  readonly bars: readonly ScoreBar[];
  readonly total: number;
  readonly mean: number | null;
  /** The score from which the policy in force accepts; null where it scores no answer of this model. */
  readonly threshold: number | null;
  /** Share of the answers at or above the threshold. */
  readonly acceptedShare: number | null;
  readonly highest: number;
  /** Of the counts. */
  readonly ticks: readonly number[];
}

/** How its gate scored each model's answers, with the threshold; models in the order of the stages. */
export function prepareScores({ scores, gates }: Pick<Mirror, "scores" | "gates">, policy: PolicyDocument): readonly ScorePicture[] {
  const cascade = cascadeOf(policy);
  const stages = cascade?.stages.map(({ model }) => model) ?? [];
  const thresholds = cascade?.thresholds ?? [];
  const models = [
    ...stages.filter((model) => scores[model] !== undefined),
    ...Object.keys(scores).filter((model) => !stages.includes(model)),
  ];
  return models.map((model) => {
    const counts = scores[model] ?? [];
    const total = counts.reduce((sum, count) => sum + count, 0);
    const threshold = thresholds[stages.indexOf(model)] ?? null;
    const accepted = threshold === null ? null : counts.slice(threshold).reduce((sum, count) => sum + count, 0);
    const bars = barsOf(counts);
    const highest = Math.max(0, ...bars.map(({ count }) => count));
    return {
      model,
      gate: gates?.[model] ?? null,
      bars,
      total,
      mean: total === 0 ? null : counts.reduce((sum, count, score) => sum + count * score, 0) / total,
      threshold,
      acceptedShare: accepted === null || total === 0 ? null : accepted / total,
      highest,
      ticks: niceTicks({ low: 0, high: highest || 1, count: 3 }).filter(Number.isInteger),
    };
  });
}

function barsOf(counts: readonly number[]): readonly ScoreBar[] {
  return Array.from({ length: 100 / BIN }, (_, at) => {
    const from = at * BIN;
    // A score of 100 belongs to the highest bar.
    const to = from + BIN === 100 ? 100 : from + BIN - 1;
    return {
      from,
      middle: from + BIN / 2,
      count: counts.slice(from, to + 1).reduce((sum, count) => sum + count, 0),
      name: `${from} to ${to}`,
    };
  });
}
