import type { LabState, Outcome } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { Semaphore } from "@/server/lib/semaphore";
import type { StoredLabRun } from "@/server/store/labRepository";
import type { Store } from "@/server/store/store";
import type { LabTask } from "./labTask";
import { runLab } from "./runLab";

/** Most runs that are running or waiting: each keeps its workload in memory. */
const MOST_LIVE = 10;

/** A running or waiting run. */
interface Live {
  readonly abort: AbortController;
  /** Cells that are there. */
  cells: number;
  doing: string;
}

const STUDIO_STOPPED = "The studio stopped while this run was under way: what it had found is kept, and it can go on.";

/** Runs of the lab over the store: one at a time has the threads, in the order of their start. Those that a studio's end cut say so from now on. */
export function createLabRuns({ labRuns }: Pick<Store, "labRuns">) {
  labRuns.interruptRunning(STUDIO_STOPPED);
  const live = new Map<string, Live>();
  const turn = new Semaphore(1);

  function end(id: string, run: Live, state: Exclude<LabState, "running">, problem: string | null = null): void {
    // Whoever ended it first has said why.
    if (live.get(id) !== run) return;
    live.delete(id);
    labRuns.setState(id, state, problem);
    run.abort.abort();
  }

  async function work(id: string, run: Live, task: LabTask): Promise<void> {
    const { signal } = run.abort;
    const work = () =>
      runLab(task, {
        ...{ done: labRuns.cells(id), signal },
        onDoing: (doing) => {
          run.doing = doing;
        },
        onCell(cell) {
          if (live.get(id) !== run) return;
          labRuns.addCell(id, run.cells, cell);
          run.cells += 1;
        },
      });
    await turn.hold(work, signal);
  }

  return {
    /**
     * Refused if too many wait. Otherwise starts a run, or continues one that was cancelled, interrupted or failed: its cells are kept. A
     * running or finished one is unchanged.
     *
     * @returns whether it was started.
     */
    start(id: string, task: LabTask, { actor, notes }: Pick<StoredLabRun, "actor" | "notes">): Outcome<{ readonly started: boolean }> {
      const kept = labRuns.get(id);
      if (kept?.state === "running" || kept?.state === "done") return { ok: true, started: false };
      if (live.size >= MOST_LIVE)
        return { ok: false, message: `${live.size} runs are under way or wait for their turn: let one end, or cancel one.` };
      const run: Live = { abort: new AbortController(), cells: kept?.cellsDone ?? 0, doing: "Waiting for the run before it" };
      live.set(id, run);
      if (kept === null)
        labRuns.insert({ id, createdAt: new Date().toISOString(), actor, spec: task.spec, state: "running", problem: null, notes });
      else labRuns.setState(id, "running");
      work(id, run, task).then(
        () => end(id, run, "done"),
        (problem: unknown) => end(id, run, "failed", reasonOf(problem)),
      );
      return { ok: true, started: true };
    },
    /** A run's present activity; null: it is not running. */
    doing: (id: string): string | null => live.get(id)?.doing ?? null,
    /** Ends its threads at once; its cells stay. Refused for one that is not running. */
    cancel(id: string): Outcome<object> {
      const run = live.get(id);
      if (run === undefined) return { ok: false, message: "This run is not under way." };
      end(id, run, "cancelled");
      return { ok: true };
    },
    /** Interrupts the running ones. */
    close(): void {
      for (const [id, run] of live) end(id, run, "interrupted", STUDIO_STOPPED);
    },
  };
}
