import type { LatencyName, ModelFrame } from "@/server/contracts/studio";
import type { Observed } from "./engineWindow";
import { histogramQuantile, histogramSum, type Quantile } from "./histogramQuantile";

/** An engine of a model, with its recent observations; null while it is not fresh. */
export interface ModelEngine {
  readonly model: string;
  readonly observed: Observed | null;
}

/**
 * Percentiles of each model over its engines, in the order in which models first appear: of the sum of the engines' histograms, since a
 * mean of their percentiles is not a percentile. Engines that are not fresh do not count.
 */
export function modelFrames(engines: readonly ModelEngine[]): readonly ModelFrame[] {
  return [...new Set(engines.map(({ model }) => model))].map((model) => {
    const fresh = engines.flatMap((engine) => (engine.model === model && engine.observed !== null ? [engine.observed] : []));
    const percentiles = [...percentilesOf("ttft", fresh), ...percentilesOf("tpot", fresh)];
    const values = percentiles.map(([name, quantile]) => [name, quantile?.value ?? null]);
    const limits = percentiles.flatMap(([name, quantile]) => (quantile?.limit === undefined ? [] : [[name, quantile.limit]]));
    return {
      model,
      ...(Object.fromEntries(values) as Readonly<Record<LatencyName, number | null>>),
      limits: Object.fromEntries(limits) as ModelFrame["limits"],
    };
  });
}

function percentilesOf(name: keyof Observed, fresh: readonly Observed[]): readonly (readonly [LatencyName, Quantile | null])[] {
  const own = fresh.flatMap((observed) => observed[name] ?? []);
  const sum = own.length === fresh.length ? histogramSum(own) : null;
  const at = (q: number): Quantile | null => (sum === null ? null : histogramQuantile(q, sum));
  return [
    [`${name}P50Seconds`, at(0.5)],
    [`${name}P95Seconds`, at(0.95)],
    [`${name}P99Seconds`, at(0.99)],
  ];
}
