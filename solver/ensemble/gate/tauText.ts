import { TOLERANCE } from "./confidence";
import { AGGREGATE_ALL } from "./ensembleDocument";

/** Whether the gate itself treats two thresholds as equal. */
export const isSameTau = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE;

export const isAggregateAll = (tau: number): boolean => tau > 1 + TOLERANCE;

/** A tau in the form that an ensemble may have: 1 where it is 1 except for the last digits. */
export const soundTau = (tau: number): number => (isAggregateAll(tau) ? AGGREGATE_ALL : Math.min(1, tau));

/**
 * A threshold in words: as votes of those asked where it is such a share (`2/3`), else with up to three decimals. Above 1: `aggregate all`.
 */
export function formatTau(tau: number, expertsPerQuestion: number): string {
  if (isAggregateAll(tau)) return "aggregate all";
  if (tau > 1 - TOLERANCE) return "1";
  const votes = tau * expertsPerQuestion;
  if (Math.abs(votes - Math.round(votes)) < 1e-6 && Math.round(votes) > 0) return `${Math.round(votes)}/${expertsPerQuestion}`;
  return String(Number(tau.toFixed(3)));
}
