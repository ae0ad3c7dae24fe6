import type { ModelFrame, Sample } from "@/server/contracts/studio";
import type { Observed } from "./engineWindow";
import { histogramQuantile, histogramSum } from "./histogramQuantile";

/** An engine of a model, and what it observed lately; null while it is not fresh. */
export interface ModelEngine {
  readonly model: string;
  readonly observed: Observed | null;
}

/**
 * Percentiles of each model over its engines, in the order in which models come up: of the sum of the engines' histograms, since a mean
 * of their percentiles is no percentile of anything. Engines that are not fresh do not count.
 */
export function modelFrames(engines: readonly ModelEngine[]): readonly ModelFrame[] {
  return [...new Set(engines.map(({ model }) => model))].map((model) => {
    const fresh = engines.flatMap((engine) => (engine.model === model && engine.observed !== null ? [engine.observed] : []));
    return { model, ...percentilesOf("ttft", fresh), ...percentilesOf("tpot", fresh) };
  });
}

function percentilesOf<Name extends keyof Observed>(name: Name, fresh: readonly Observed[]) {
  const own = fresh.flatMap((observed) => observed[name] ?? []);
  const sum = own.length === fresh.length ? histogramSum(own) : null;
  const at = (q: number): Sample => (sum === null ? null : histogramQuantile(q, sum));
  return { [`${name}P50Seconds`]: at(0.5), [`${name}P95Seconds`]: at(0.95), [`${name}P99Seconds`]: at(0.99) } as Readonly<
    Record<`${Name}P${50 | 95 | 99}Seconds`, Sample>
  >;
}
