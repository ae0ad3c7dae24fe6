import type { Routed } from "../routing/routing";
import type { DeployedRow, RoutedCascade } from "../tables/deployedRows";
import type { composeEndToEnd } from "../tables/endToEnd";
import type { JudgeEngine } from "../tables/judgeTables";
import type { LatencyTables, LatencyTablesInput, MixTables } from "../tables/latencyTables";
import type { Mix } from "../tables/mix";
import type { Exploration } from "./exploration";
import type { OnProgress } from "./progress";
import type { Evaluated } from "./search";
import type { PlanningSituation } from "./situation";

/**
 * A situation in the numbers that explorers work with. A model without `shapes` cannot be served here. Of a `fixedTopology` the judge's engine,
 * where it is one, is the last: a cascade of a model takes all of its replicas and leaves other models' alone.
 */
export interface ExploreInput
  extends LatencyTablesInput,
    Required<Pick<PlanningSituation, "qualityConfidence">>,
    Pick<PlanningSituation, "directStart"> {
  /** Of several types: the mean over the mix. */
  readonly usdPerGpuHour: number;
  readonly judge: Exploration["judge"];
  /** The judge where it is an engine of its own; its `judge` then takes no fixed time. */
  readonly judgeEngine?: JudgeEngine;
  /** Asked often; true makes `search` and `focus` return early with what there is. */
  readonly cancelled: () => boolean;
  /** Told of the search, and by what plans with the explorer; left out: nobody listens. */
  readonly progress?: OnProgress;
}

/** A routing with all that follows from it, before GPUs are given. */
export interface EvaluatedRouting extends Evaluated {
  /** Without the accepted labels: a thousand routings are kept. */
  readonly routed: Omit<Routed, "accepted">;
  readonly qualityLow: number;
  /** Per stage, and of a judge that is an engine after them: seconds by GPU count. */
  readonly tables: readonly Float32Array[];
  readonly weights: readonly number[];
  readonly judgeSeconds: number;
}

export interface Explorer {
  readonly input: ExploreInput;
  readonly tables: LatencyTables;
  /**
   * Searches. Called again, it forgets the routings and tables that came after the search instead: no answer depends on what
   * was asked before.
   */
  search(): void;
  /** Refines around a floor or budget. */
  focus(asked: { readonly floor: number | null; readonly budgetSeconds: number | null }): void;
  /** All routings seen since the search. */
  exploration(): Exploration;
  /** Adds one routing by hand; returns its index in the exploration. */
  add(stages: readonly number[], thresholds: readonly number[], startBelow?: number): number;
  routing(index: number): EvaluatedRouting;
  /** Quality bound and shares of thresholds that are not part of the exploration. */
  outlook(
    stages: readonly number[],
    thresholds: readonly number[],
    startBelow?: number,
  ): { readonly qualityLow: number; readonly routed: Routed };
  /** Requests that reach each stage. */
  mixes(of: RoutedCascade): readonly Mix[];
  /** What is deployed for a cascade: the model of each stage and, after them, a judge that is an engine. */
  rows(of: RoutedCascade): readonly DeployedRow[];
  /** End-to-end latency with its weights for given stage latencies and the relative percentiles of their tables. */
  compose(
    of: RoutedCascade,
    stageSeconds: readonly number[],
    tables: readonly Pick<MixTables, "relativePercentile">[],
  ): ReturnType<typeof composeEndToEnd>;
}
