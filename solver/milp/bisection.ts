import type { Allocation } from "./allocation";

/**
 * The exact min-max allocation: the smallest L for which every stage can be brought to at most L with `gpus` GPUs in total, found
 * by bisection over the latencies in the tables, so that there is no tolerance. Equal to the MILP on the same tables.
 *
 * @param tables seconds per stage and GPU count (index f - 1), non-increasing.
 * @returns null when some stage has no finite latency within the available GPUs.
 */
export function minMaxAllocation(tables: readonly ArrayLike<number>[], gpus: number): Allocation | null {
  if (gpusWithin(tables, gpus, Number.MAX_VALUE) > gpus) return null;
  let best = Number.MAX_VALUE;
  // The optimum is a latency of one of the stages; within one stage, reachability is monotone in the GPU count.
  for (const table of tables) {
    let low = 0;
    let high = Math.min(gpus, table.length) - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const limit = table[middle] ?? Number.POSITIVE_INFINITY;
      if (limit >= best || !(limit < Number.POSITIVE_INFINITY)) low = middle + 1;
      else if (gpusWithin(tables, gpus, limit) <= gpus) {
        best = limit;
        low = middle + 1;
      } else high = middle - 1;
    }
  }
  return { gpus: tables.map((table) => fewestGpus(table, gpus, best)), latencySeconds: best };
}

/** Fewest GPUs with which every stage stays within the limit; more than `gpus` where that is impossible. */
function gpusWithin(tables: readonly ArrayLike<number>[], gpus: number, limitSeconds: number): number {
  let sum = 0;
  for (const table of tables) {
    sum += fewestGpus(table, gpus, limitSeconds);
    if (sum > gpus) return sum;
  }
  return sum;
}

/** Fewest GPUs that bring a stage within the limit; `gpus + 1` where no number does. */
function fewestGpus(table: ArrayLike<number>, gpus: number, limitSeconds: number): number {
  let low = 0;
  let high = Math.min(gpus, table.length);
  const end = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((table[middle] ?? Number.POSITIVE_INFINITY) <= limitSeconds) high = middle;
    else low = middle + 1;
  }
  return low === end ? gpus + 1 : low + 1;
}
