import { type RegressionLook, type RegressionState, seeRegression } from "../verification/regression";
import { rollOutPosition } from "../verification/rollOutPosition";
import type { ApplicationRun } from "./applicationRun";

/** As often as telemetry is read. */
const everyMs = 1_000;

/**
 * Watches live traffic while a roll-out's steps run and halts it where it makes things worse; what was seen before it was resumed is not
 * held against it again. A roll-out that is being undone is not watched: going back is the remedy.
 *
 * @param look null: nothing is seen now.
 * @returns ends the watching.
 */
export function watchRollOut(run: ApplicationRun, look: () => RegressionLook | null): () => void {
  let known: RegressionState | null = null;
  const timer = setInterval(() => {
    const { state, undoing, steps } = run.application;
    if (undoing || (state !== "running" && state !== "grace")) {
      known = null;
      return;
    }
    const seen = look();
    if (seen === null) return;
    const { state: next, halt } = seeRegression(known, seen, rollOutPosition(steps));
    known = next;
    if (halt === null || state !== "running") return;
    try {
      run.halt({ ...halt, at: new Date().toISOString() });
      // It may be resumed before the next look.
      known = null;
    } catch (problem) {
      process.stderr.write(`Halting a roll-out failed, and is tried again: ${problem}\n`);
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
