import type { LabTask } from "@/server/lab/labTask";
import { runLab } from "@/server/lab/runLab";
import type { LabCell } from "@/solver/lab/labCell";

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
