import { availableParallelism, freemem } from "node:os";
import type { LabCell } from "@/server/contracts/studio/lab";
import { makeGround, readsPredictors } from "./labGround";
import type { LabCellKey, LabTask } from "./labTask";
import { cellsInThread, inLabThread } from "./labThread";

export interface LabRunning {
  /** Cells that are there already, and are not made again. */
  readonly done: readonly LabCellKey[];
  readonly signal: AbortSignal;
  /** What is being done now. */
  readonly onDoing: (doing: string) => void;
  readonly onCell: (cell: LabCell) => void;
  /** Default: the number of cores less one, fewer if memory is short; figures do not depend on it. */
  readonly threads?: number;
}

/** Keys of all cells of a run, seed by seed: a thread keeps the programs of one. */
export const labCellKeys = ({ spec }: Pick<LabTask, "spec">): readonly LabCellKey[] =>
  spec.seeds.flatMap((_, seed) => spec.rates.flatMap((_, rate) => spec.systems.map((_, system) => ({ system, rate, seed }))));

/** What a thread of a large run takes. */
const THREAD_BYTES = 512 * 2 ** 20;

/** A core is left for the rest of the studio, and so is half of the memory that is free. */
const ownThreads = (): number => Math.min(availableParallelism() - 1, Math.floor(freemem() / 2 / THREAD_BYTES));

const name = ({ system, rate, seed }: LabCellKey): string => `${system} ${rate} ${seed}`;

/**
 * Computes the missing cells of a run of the lab in worker threads, and ends once all exist. An abort ends the threads at once, even inside
 * a cell.
 *
 * @throws the signal's reason if it aborts; Error with the sentence of the first cell that fails.
 */
export async function runLab(task: LabTask, { done, signal, onDoing, onCell, threads }: LabRunning): Promise<void> {
  const there = new Set(done.map(name));
  const missing = labCellKeys(task).filter((key) => !there.has(name(key)));
  if (missing.length === 0) return;
  const trains = task.spec.systems.some(readsPredictors);
  onDoing(trains ? "Reading prompts and training predictors" : "Drawing programs");
  const ground = trains ? await inLabThread({ kind: "ground", task }, signal) : makeGround(task);
  onDoing("Simulating");
  const count = Math.max(1, Math.min(threads ?? ownThreads(), missing.length));
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const worked = Array.from({ length: count }, () =>
    cellsInThread({ task, ground, next: () => missing.shift(), onCell, signal: either }).catch((problem: unknown) => {
      failed.abort(problem);
      throw problem;
    }),
  );
  await Promise.all(worked);
}
