import type { Explorer } from "../cascade/explore/explorer";
import { product, usefulThresholds } from "../cascade/routing/routingGrid";
import { secondsOnReplicas } from "../cascade/tables/capacityTable";
import type { RoutedCascade } from "../cascade/tables/deployedRows";
import { STARVATION_LIMIT } from "../cascade/tables/endToEnd";
import type { MixTables } from "../cascade/tables/latencyTables";
import type { ShapeCount } from "../cascade/tables/shapeMix";
import type { Objective } from "../plan/plan";
import { cascadesOf } from "./cascades";

/** The replicas of each stage of a routing. */
export interface Deployment {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  readonly replicas: readonly (readonly Pick<ShapeCount, "shape" | "count">[])[];
}

export interface Exhaustive extends Deployment {
  /** Objective latency, in seconds. */
  readonly seconds: number;
  /** Routings that met the floor, each with all its deployments. */
  readonly routings: number;
  /** Plans among which it is the best: every multiset of replicas of every stage of every such routing. */
  readonly plans: number;
}

export interface ExhaustiveInput {
  readonly explorer: Explorer;
  readonly floor: number;
  readonly latency: Objective["latency"];
  /** Left out: those that the planner finds worthwhile. */
  readonly shapes?: TriedShapes;
}

/** Shapes of replicas that are tried: those that the planner keeps for its tables, or every one that fits. */
export type TriedShapes = "worthwhile" | "every";

/**
 * The optimal plan by the planner's simulator and latency tables: every cascade, every threshold that distinguishes answers,
 * every division of the GPUs, every multiset of replicas (Cascadia, appendix J). Tables are simulated for exactly each stage's
 * own requests. The constraints are the planner's: the floor by its bound, and no stage over its starvation limit.
 * For a few models and up to about 16 GPUs.
 *
 * @returns null where no plan meets the floor and sustains the load.
 */
export function exhaustiveSearch({ explorer, floor, latency, shapes }: ExhaustiveInput): Exhaustive | null {
  const { sample, requestsPerSecond, maxGpus } = explorer.input;
  let best: Omit<Exhaustive, "routings" | "plans"> | null = null;
  let routings = 0;
  let plans = 0;
  for (const stages of cascadesOf(explorer.input, 1)) {
    const choices = stages.slice(0, -1).map((model) => usefulThresholds(sample.judged[model] ?? new Float64Array()));
    for (const thresholds of product(choices)) {
      const { routed, qualityLow } = explorer.outlook(stages, thresholds);
      if (qualityLow < floor || routed.share.includes(0)) continue;
      routings += 1;
      const cascade = { stages, routed };
      const tables = exactTables(explorer, cascade, shapes);
      const options = tables.map((own, stage) => bestReplicas(own, requestsPerSecond * (routed.share[stage] ?? 0), maxGpus));
      const all = divisions(options, maxGpus);
      const possible = all.filter((division) => division.every(({ seconds }) => seconds < Number.POSITIVE_INFINITY));
      plans += all.reduce((sum, division) => sum + division.reduce((ways, { tried }) => ways * tried, 1), 0);
      const least = Math.min(...possible.map((division) => Math.max(...division.map(({ seconds }) => seconds))));
      for (const division of possible) {
        const largest = Math.max(...division.map(({ seconds }) => seconds));
        if (largest > STARVATION_LIMIT * least) continue;
        const stageSeconds = division.map(({ seconds }) => seconds);
        const seconds = latency === "largest-stage" ? largest : explorer.compose(cascade, stageSeconds, tables).seconds;
        if (seconds < (best?.seconds ?? Number.POSITIVE_INFINITY))
          best = { stages, thresholds, replicas: division.map(({ replicas }) => replicas), seconds };
      }
    }
  }
  return best === null ? null : { ...best, routings, plans };
}

/** Objective latency of a given plan by the same tables as the exhaustive search, in seconds; Infinity where the load is not sustained. */
export function tableSeconds(explorer: Explorer, plan: Deployment, latency: Objective["latency"], shapes?: TriedShapes): number {
  const cascade = { stages: plan.stages, routed: explorer.outlook(plan.stages, plan.thresholds).routed };
  const tables = exactTables(explorer, cascade, shapes);
  const seconds = tables.map(({ capacity }, stage) => {
    const rate = explorer.input.requestsPerSecond * (cascade.routed.share[stage] ?? 0);
    const replicas = (plan.replicas[stage] ?? []).flatMap(({ shape, count }) => {
      const own = capacity.shapes.find(({ shape: known }) => known.tp === shape.tp && known.pp === shape.pp);
      return own === undefined ? [] : [{ shape: own.shape, count }];
    });
    return secondsOnReplicas(capacity, rate, replicas);
  });
  if (seconds.includes(Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY;
  return latency === "largest-stage" ? Math.max(...seconds) : explorer.compose(cascade, seconds, tables).seconds;
}

const exactTables = (explorer: Explorer, cascade: RoutedCascade, shapes: TriedShapes = "worthwhile"): MixTables[] =>
  explorer.mixes(cascade).map((mix, stage) => explorer.tables.exact(cascade.stages[stage] ?? 0, mix, () => shapes === "every"));

/** The fastest replicas of one stage among those with exactly so many GPUs. */
interface Option {
  readonly gpus: number;
  readonly seconds: number;
  readonly replicas: readonly Pick<ShapeCount, "shape" | "count">[];
  /** Number of multisets with so many GPUs, including this one. */
  readonly tried: number;
}

/** For each GPU count, the multiset of replicas with the least latency, by exhaustive search. */
function bestReplicas({ capacity }: MixTables, requestsPerSecond: number, gpus: number): Option[] {
  const best = new Map<number, Option>();
  const extend = (index: number, used: number, replicas: Option["replicas"]): void => {
    const own = capacity.shapes[index];
    if (own === undefined) {
      if (replicas.length === 0) return;
      const seconds = secondsOnReplicas(capacity, requestsPerSecond, replicas);
      const known = best.get(used);
      const tried = (known?.tried ?? 0) + 1;
      best.set(used, known !== undefined && known.seconds <= seconds ? { ...known, tried } : { gpus: used, seconds, replicas, tried });
      return;
    }
    for (let count = 0; used + count * own.gpus <= gpus; count += 1) {
      const added = count === 0 ? [] : [{ shape: own.shape, count }];
      extend(index + 1, used + count * own.gpus, [...replicas, ...added]);
    }
  };
  extend(0, 0, []);
  return [...best.values()];
}

/** Every way to give the stages GPUs within the budget. */
function divisions(options: readonly (readonly Option[])[], gpus: number): Option[][] {
  return options.reduce<Option[][]>(
    (rows, own) =>
      rows.flatMap((row) => {
        const left = gpus - row.reduce((sum, option) => sum + option.gpus, 0);
        return own.filter((option) => option.gpus <= left).map((option) => [...row, option]);
      }),
    [[]],
  );
}
