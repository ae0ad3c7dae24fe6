/**
 * Whether two solvers found the same optimum: to 1e-6, relative above 1. Engines keep rows to a tolerance relative to their
 * scale only (GLPK 1e-7), so with latencies of a minute an absolute 1e-6 is below what two right answers may differ by.
 *
 * @example sameOptimum(60, 59.999999) // true
 */
export function sameOptimum(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(one), Math.abs(other));
}
