import type { OutcomeTable } from "@/solver/workload/workload";
import { type TokenWork, workOf } from "./modelWork";
import type { MixCandidate } from "./problem";
import { qualityLow } from "./qualityLow";

/** A cascade of some models, by index in the table, with the score below which a stage's answer is sent on; one stage is one model. */
export interface CascadeRoute {
  readonly kind: "cascade";
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
}

export interface CascadeGround {
  readonly outcomes: OutcomeTable;
  /** Rows of the table that may be planned with. */
  readonly planning: Int32Array;
  /** By model. */
  readonly tokens: readonly TokenWork[];
  /** Seconds of a call of the judge. */
  readonly judgeSeconds: number;
}

/** Steps of thresholds, by the number of thresholds; cascades have two at most. */
const STEPS = [100, 5, 10] as const;

/**
 * One model for all, and every cascade of two and of three models over a grid of thresholds, with the judge's scores as the gate: work
 * and judgements are the means over the planning prompts, quality is the lower bound of its mean.
 */
export function cascadeCandidates(ground: CascadeGround): readonly (MixCandidate & { readonly route: CascadeRoute })[] {
  const models = Array.from(ground.outcomes.models.keys());
  return subsets(models, STEPS.length).flatMap((stages) =>
    grid(stages.length - 1).map((thresholds) => {
      const route: CascadeRoute = { kind: "cascade", stages, thresholds };
      return { ...means(ground, route), route };
    }),
  );
}

/** Some of the models, at least one and at most so many, in their order. */
function subsets(models: readonly number[], most: number): readonly (readonly number[])[] {
  const [first, ...rest] = models;
  if (first === undefined || most === 0) return [];
  return [[first], ...subsets(rest, most - 1).map((own) => [first, ...own]), ...subsets(rest, most)];
}

function grid(count: number): readonly (readonly number[])[] {
  const step = STEPS[count] ?? 100;
  const each = Array.from({ length: 100 / step }, (_, at) => step * (at + 1));
  let all: readonly (readonly number[])[] = [[]];
  for (let at = 0; at < count; at += 1) all = all.flatMap((before) => each.map((threshold) => [...before, threshold]));
  return all;
}

function means({ outcomes, planning, tokens, judgeSeconds }: CascadeGround, { stages, thresholds }: CascadeRoute): MixCandidate {
  const work = tokens.map(() => 0);
  const labels: number[] = [];
  let judgements = 0;
  for (const row of planning) {
    for (const [at, model] of stages.entries()) {
      const own = outcomes.models[model];
      const tokensOf = tokens[model];
      if (own === undefined || tokensOf === undefined) continue;
      work[model] = (work[model] ?? 0) + workOf(tokensOf, outcomes.inputTokens[row] ?? 0, own.outputTokens[row] ?? 0);
      if (at < thresholds.length) judgements += 1;
      if (at < thresholds.length && (own.judged[row] ?? 0) < (thresholds[at] ?? 0)) continue;
      const label = own.label[row] ?? Number.NaN;
      if (!Number.isNaN(label)) labels.push(label);
      break;
    }
  }
  const mean = (sum: number): number => sum / planning.length;
  return { work: work.map(mean), quality: qualityLow(labels), otherSeconds: judgeSeconds * mean(judgements) };
}
