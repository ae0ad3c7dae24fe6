import { qualityLow } from "@/solver/mix/qualityLow";
import { mean } from "@/solver/numeric/quantile";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { OutcomeTable } from "@/solver/workload/workload";
import cases from "./cases.json" with { type: "json" };

type Singles = NonNullable<JustInTimePolicy["singles"]>;

const STEP = 5;
const WHOLE = { min: 0, max: 100 };

interface Ground {
  readonly outcomes: OutcomeTable;
  /** Rows of the table that may be planned with. */
  readonly planning: Int32Array;
  /** By model, the cost of a token. */
  readonly costs: readonly number[];
}

/** What a cascade of some of the models, by index, gives at its thresholds: the labels and the mean cost of its answers. */
function served({ outcomes, planning, costs }: Ground, stages: readonly number[], thresholds: readonly number[]) {
  let cost = 0;
  const labels: number[] = [];
  for (const row of planning) {
    for (const [at, model] of stages.entries()) {
      const own = outcomes.models[model];
      cost += (own?.outputTokens[row] ?? 0) * (costs[model] ?? 0);
      if (at < thresholds.length && (own?.judged[row] ?? 0) < (thresholds[at] ?? 0)) continue;
      labels.push(own?.label[row] ?? 0);
      break;
    }
  }
  return { labels, cost: cost / planning.length };
}

/** The mean label of one model's answers to the planning prompts. */
export const qualityOf = (ground: Ground, model: number): number => mean(served(ground, [model], []).labels);

/**
 * The cheapest cascade of any of the models whose lower 90 % bound of quality on the planning prompts keeps the floor, as the planner's do, by
 * trying every threshold in steps of 5 from 5.
 */
export function cheapestCascade(ground: Ground, floor: number): Singles {
  const models = ground.outcomes.models.map((_, model) => model);
  let best = { stages: models.slice(-1), thresholds: [] as readonly number[], cost: Number.POSITIVE_INFINITY };
  for (let chosen = 1; chosen < 1 << models.length; chosen += 1) {
    const stages = models.filter((model) => (chosen & (1 << model)) !== 0);
    for (const thresholds of allThresholds(stages.length - 1)) {
      const { labels, cost } = served(ground, stages, thresholds);
      if (cost < best.cost && qualityLow(labels) >= floor) best = { stages, thresholds, cost };
    }
  }
  return {
    kind: "cascade",
    stages: best.stages.map((model) => ({ model: ground.outcomes.models[model]?.model ?? "" })),
    thresholds: [...best.thresholds],
    judge: { model: "judge", secondsPerCall: cases.judgeSeconds, usdPerCall: 0 },
    approvedRanges: { thresholds: best.thresholds.map(() => WHOLE) },
  };
}

function allThresholds(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  const each = Array.from({ length: 100 / STEP }, (_, at) => STEP * (at + 1));
  return allThresholds(count - 1).flatMap((before) => each.map((threshold) => [...before, threshold]));
}

/** The cheapest single model that keeps the floor by the same bound; the largest where none does. */
export function cheapestModel(ground: Ground, floor: number): Extract<Singles, { kind: "fixed" }> {
  const able = ground.outcomes.models.flatMap(({ model }, at) =>
    qualityLow(served(ground, [at], []).labels) >= floor ? [{ model, cost: ground.costs[at] ?? 0 }] : [],
  );
  const [cheapest] = able.sort((a, b) => a.cost - b.cost);
  return { kind: "fixed", model: cheapest?.model ?? ground.outcomes.models.at(-1)?.model ?? "" };
}
