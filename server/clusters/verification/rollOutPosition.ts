import type { StoredStep } from "@/server/store/documents/storedStep";
import type { RollOutPosition } from "./regression";

/** Where a roll-out is by its steps: which engines should serve now, and whether it is short of some that it drained to make room. */
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
