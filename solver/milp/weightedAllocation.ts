import type { Allocation } from "./allocation";

/**
 * The exact allocation that minimises `sum of weights[s] * tables[s][f_s - 1]` with every stage within `stageLimitSeconds` and at
 * most `gpus` GPUs in total; among equals the one with fewest GPUs. Dynamic programming over stages and GPU counts, about
 * `stages * gpus^2 / 2` steps. Equal to the MILP on the same tables.
 *
 * @param tables seconds per stage and GPU count (index f - 1), non-increasing.
 * @returns null when some stage cannot be brought within the limit.
 */
export function weightedAllocation(
  tables: readonly ArrayLike<number>[],
  gpus: number,
  objective: { readonly weights: ArrayLike<number>; readonly stageLimitSeconds: number },
): Allocation | null {
  const stages = tables.length;
  const { weights, stageLimitSeconds } = objective;
  // cost[n]: least cost of the stages so far on at most n GPUs; given[s][n]: GPUs of stage s in it.
  let cost = new Float64Array(gpus + 1);
  const given: Int32Array[] = [];
  for (let stage = 0; stage < stages; stage += 1) {
    const table = tables[stage] ?? [];
    const weight = weights[stage] ?? 0;
    const next = new Float64Array(gpus + 1).fill(Number.POSITIVE_INFINITY);
    const choice = new Int32Array(gpus + 1);
    let previous = Number.POSITIVE_INFINITY;
    for (let f = 1; f <= Math.min(gpus, table.length); f += 1) {
      const seconds = table[f - 1] ?? Number.POSITIVE_INFINITY;
      if (!(seconds < previous)) continue;
      previous = seconds;
      if (!(seconds <= stageLimitSeconds) || seconds === Number.POSITIVE_INFINITY) continue;
      const own = weight * seconds;
      for (let n = f; n <= gpus; n += 1) {
        const value = own + (cost[n - f] ?? 0);
        if (value < (next[n] ?? 0)) {
          next[n] = value;
          choice[n] = f;
        }
      }
    }
    cost = next;
    given.push(choice);
  }
  const least = cost[gpus] ?? Number.POSITIVE_INFINITY;
  if (least === Number.POSITIVE_INFINITY) return null;
  let left = cost.indexOf(least);
  const allocation = new Array<number>(stages).fill(0);
  for (let stage = stages - 1; stage >= 0; stage -= 1) {
    const f = given[stage]?.[left] ?? 0;
    allocation[stage] = f;
    left -= f;
  }
  return { gpus: allocation, latencySeconds: least };
}
