import { standardError } from "@/solver/numeric/interval";
import { normalQuantile } from "@/solver/numeric/normal";

/** One-sided confidence with which floors are kept. */
const CONFIDENCE = 0.9;

/**
 * Lower 90 % bound of a mean label of planning prompts, 0..100: what a floor is held against. It is of one way to serve that is named in
 * advance; which of many is the cheapest at a floor is also a matter of luck (`cascade/routing/qualityBound.ts`). 0 for no labels.
 */
export function qualityLow(labels: readonly number[]): number {
  if (labels.length === 0) return 0;
  const all = Float64Array.from(labels);
  const mean = all.reduce((sum, label) => sum + label, 0) / all.length;
  return Math.max(0, mean - normalQuantile(CONFIDENCE) * standardError(all));
}
