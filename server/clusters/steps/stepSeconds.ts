import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StoredStep } from "@/server/store/documents/storedStep";

/** Number of past roll-outs that are used. */
const RECENT = 5;

/**
 * Engine seconds that the steps of some kinds took for each done step of the first of them, over the last roll-outs of a cluster. The
 * measured times add up over engines that load in parallel.
 *
 * @param applications newest first.
 * @returns null if no step of the first kind was done.
 */
export function stepSeconds(
  applications: readonly Pick<StoredApplication, "steps">[],
  timeScale: number,
  kinds: readonly [StoredStep["kind"], ...StoredStep["kind"][]],
): number | null {
  const steps = applications.slice(0, RECENT).flatMap((application) => application.steps.filter(({ state }) => state === "done"));
  const each = steps.filter(({ kind }) => kind === kinds[0]).length;
  if (each === 0) return null;
  const wallMs = steps
    .filter(({ kind }) => kinds.includes(kind))
    .reduce((sum, { startedAt, endedAt }) => sum + Math.max(0, Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "") || 0), 0);
  return (wallMs / 1000 / each) * timeScale;
}
