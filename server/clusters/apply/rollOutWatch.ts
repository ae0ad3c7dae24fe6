import type { StoredStep } from "@/server/store/documents/storedStep";
import { type RegressionLook, type RegressionState, type RollOutPosition, seeRegression } from "../verification/regression";
import type { ApplicationRun } from "./applicationRun";

/** The interval of telemetry. */
const everyMs = 1_000;

/**
 * Watches live traffic while a roll-out's steps run and halts it if it makes the traffic worse; observations from before a resume do not
 * count again. A rollback is not watched: it is the remedy.
 *
 * @param look null: nothing is observed now.
 * @returns a function that ends the watch.
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

/**
 * The position of a roll-out by its steps: which engines should serve now, and whether it has fewer engines because it drained some to make
 * room.
 */
export function rollOutPosition(all: readonly StoredStep[]): RollOutPosition {
  const steps = all.filter(({ state }) => state !== "skipped" && state !== "failed");
  const reached = steps.findIndex(({ state }) => state === "running" || state === "waiting");
  const at = reached === -1 ? steps.length : reached;
  const routed = steps.slice(0, at).findLast(({ action }) => "routing" in action);
  const now = steps[at];
  return {
    routed: activeOf(routed),
    staying: now?.state === "running" ? activeOf(now) : null,
    thin: isThin(steps, at),
  };
}

const activeOf = (step: StoredStep | undefined): readonly string[] | null =>
  step !== undefined && "routing" in step.action ? step.action.routing.active : null;

/** From the first engine that is drained before another starts, to the first routing over the last of those that start after it. */
function isThin(steps: readonly StoredStep[], at: number): boolean {
  const lastStart = steps.findLastIndex(({ action }) => action.kind === "start");
  const firstDrain = steps.findIndex(({ action }, index) => action.kind === "drain" && index < lastStart);
  if (firstDrain === -1 || at < firstDrain) return false;
  const restored = steps.findIndex(({ action }, index) => action.kind === "switch-policy" && index > lastStart);
  return restored === -1 ? at <= lastStart : at <= restored;
}
