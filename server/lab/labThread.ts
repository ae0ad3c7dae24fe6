import type { LabCell } from "@/server/contracts/studio/lab";
import { TaskThreads } from "@/server/threads/taskThreads";
import { WorkerThread } from "@/server/threads/workerThread";
import type { LabCellKey, LabGround, LabTask } from "./labTask";
import type { SuggestionGround, suggestLab } from "./suggestLab";

/** What a thread of the lab is asked: a ground, a suggestion, or first what cells are of and then cells. */
export type LabThreadTask =
  | { readonly kind: "ground"; readonly task: LabTask }
  | { readonly kind: "suggestion"; readonly of: SuggestionGround }
  | { readonly kind: "cells"; readonly task: LabTask; readonly ground: LabGround }
  | { readonly kind: "cell"; readonly key: LabCellKey };

export type LabThreadAnswer<Kind extends LabThreadTask["kind"]> = {
  readonly ground: LabGround;
  readonly suggestion: ReturnType<typeof suggestLab>;
  readonly cells: null;
  readonly cell: LabCell;
}[Kind];

/** A run of 100,000 programs and twelve models takes some hundred MB a thread. */
const options = { file: "labWorker", heapMb: 2048 } as const;

type Whole = "ground" | "suggestion";
const threads = new TaskThreads<Extract<LabThreadTask, { kind: Whole }>, LabThreadAnswer<Whole>>(options);

/**
 * Makes the ground of a run, or a suggestion, in its own thread.
 * @throws the signal's reason if it aborts; Error, in a sentence.
 */
export async function inLabThread<Kind extends Whole>(
  task: Extract<LabThreadTask, { kind: Kind }>,
  signal: AbortSignal,
): Promise<LabThreadAnswer<Kind>> {
  return (await threads.run(task, { signal })) as LabThreadAnswer<Kind>;
}

interface CellsOptions {
  readonly task: LabTask;
  readonly ground: LabGround;
  /** The next cell to compute; undefined: there is none left. */
  readonly next: () => LabCellKey | undefined;
  readonly onCell: (cell: LabCell) => void;
  readonly signal: AbortSignal;
}

/** Makes cells in one thread until none is left. @throws as `inLabThread`, the thread ending at once. */
export async function cellsInThread({ task, ground, next, onCell, signal }: CellsOptions): Promise<void> {
  const thread = new WorkerThread<LabThreadTask, LabThreadAnswer<"cells" | "cell">>(options);
  try {
    await thread.ask({ kind: "cells", task, ground }, { signal });
    for (let key = next(); key !== undefined; key = next()) {
      const cell = await thread.ask({ kind: "cell", key }, { signal });
      if (cell !== null) onCell(cell);
    }
  } finally {
    await thread.close();
  }
}
