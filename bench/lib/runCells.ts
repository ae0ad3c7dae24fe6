import type { LabTask } from "@/server/lab/labTask";
import { runLab } from "@/server/lab/runLab";
import type { LabCell } from "@/solver/lab/labCell";
import { type LabMetric, labMetrics } from "@/solver/lab/overSeeds";

/** A figure of a system at a rate, seed by seed. */
export const bySeed = (
  { cells }: { readonly cells: readonly LabCell[] },
  at: Pick<LabCell, "system" | "rate">,
  metric: LabMetric,
): readonly number[] => cells.filter(({ system, rate }) => system === at.system && rate === at.rate).map(labMetrics[metric]);

/**
 * Runs a lab specification as the studio's lab does.
 * @param task the specification with its workload, cards and texts
 * @param threads worker threads at most
 * @returns the cells of all systems, rates and seeds, by seed
 */
export async function runCells(task: LabTask, threads = 1): Promise<readonly LabCell[]> {
  const cells: LabCell[] = [];
  await runLab(task, {
    ...{ done: [], signal: new AbortController().signal, threads, onDoing: () => undefined },
    onCell: (cell) => cells.push(cell),
  });
  return cells.sort((a, b) => a.seed - b.seed);
}
