import { orderedSubsets } from "../cascade/routing/routingGrid";
import type { ReplicaChoice } from "./system";

/** Every cascade of the ladder with at least so many stages, of models that some replica here can hold. */
export const cascadesOf = ({ shapes }: Pick<ReplicaChoice, "shapes">, least: number): number[][] =>
  orderedSubsets(shapes.length).filter((stages) => stages.length >= least && stages.every((model) => (shapes[model]?.length ?? 0) > 0));

/** At most `count` of the values, evenly spread, first and last among them. */
export function evenly(values: readonly number[], count: number): number[] {
  if (values.length <= count) return [...values];
  return Array.from({ length: count }, (_, index) => values[Math.round((index * (values.length - 1)) / Math.max(1, count - 1))] ?? 0);
}
