import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { type PlanningSample, promptsReaching, type Routed } from "../routing/routing";
import type { JudgeEngine, JudgeTables } from "./judgeTables";
import type { LatencyTables, MixTables, NearTables } from "./latencyTables";
import type { Mix } from "./mix";

/** A cascade with the effect of its thresholds on the prompts, whether or not it is part of the exploration. */
export interface RoutedCascade {
  /** Indices into the sample's models. */
  readonly stages: readonly number[];
  /** Without the accepted labels, to save memory: a thousand routings are cached. */
  readonly routed: Omit<Routed, "accepted">;
}

/** One deployed model of a cascade. */
export interface DeployedRow {
  readonly model: string;
  readonly requestsPerSecond: number;
  /** Tables shared with similar mixes. */
  near(): NearTables;
  /** Tables of exactly its requests; see `LatencyTables`. */
  exact(also?: (replica: ShapedReplica) => boolean): MixTables;
  /** Tokens of cache that one of its requests holds, on average over its requests and over the time it runs. */
  heldTokens(): number;
}

interface Deployable {
  readonly sample: PlanningSample;
  readonly requestsPerSecond: number;
  readonly judgeEngine?: JudgeEngine;
  readonly tables: LatencyTables;
  /** Tables of the judge's engine; null without one. */
  readonly judging: JudgeTables | null;
}

/** The requests that reach each stage. */
export function mixesOf({ stages, routed }: RoutedCascade): readonly Mix[] {
  return stages.map((_, stage) => ({ prompts: promptsReaching(routed, stage), share: routed.share[stage] ?? 0 }));
}

/** The deployed models of a cascade: the model of each stage and, after them, a judge that is an engine. */
export function deployedRows(
  { sample, requestsPerSecond, judgeEngine, tables, judging }: Deployable,
  of: RoutedCascade,
): readonly DeployedRow[] {
  const rows = mixesOf(of).map((mix, stage): DeployedRow => {
    const model = of.stages[stage] ?? 0;
    return {
      model: sample.models[model] ?? "",
      requestsPerSecond: requestsPerSecond * mix.share,
      near: () => tables.near(model, mix),
      exact: (also) => tables.exact(model, mix, also),
      heldTokens: () => tables.heldTokens(model, mix),
    };
  });
  if (judging === null || !of.routed.judged.includes(true)) return rows;
  const mix = judging.mix(of);
  const judgeRow: DeployedRow = {
    model: judgeEngine?.model ?? "",
    requestsPerSecond: (requestsPerSecond * mix.prompts.length) / sample.prompts,
    near: () => judging.tables.near(0, mix),
    exact: (also) => judging.tables.exact(0, mix, also),
    heldTokens: () => judging.tables.heldTokens(0, mix),
  };
  return [...rows, judgeRow];
}

/** The relative percentile of a mix, from the tables of a similar one. */
export const relativePercentileOf = ({ tables, lengthFactor }: NearTables): number => tables.relativePercentile * lengthFactor;
