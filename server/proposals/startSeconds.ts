import type { StoredApplication } from "@/server/store/applicationRepository";

/** The upper end of what the source measured for one replica, 2 to 20 s. */
const SOURCE_SECONDS = 20;

/** Roll-outs looked back at. */
const RECENT = 5;

/**
 * Engine seconds until a started replica serves, by the last roll-outs here, and in words what that rests on. As measured they add up over
 * replicas that load side by side.
 */
export function startSeconds(
  applications: readonly Pick<StoredApplication, "steps">[],
  timeScale: number,
): { readonly seconds: number; readonly measured: boolean; readonly basis: string } {
  const steps = applications.slice(0, RECENT).flatMap((application) => application.steps.filter(({ state }) => state === "done"));
  const starts = steps.filter(({ kind }) => kind === "start").length;
  if (starts === 0)
    return {
      seconds: SOURCE_SECONDS,
      measured: false,
      basis: `A replica is taken to start within ${SOURCE_SECONDS} s, the source's upper figure: none was started here yet.`,
    };
  const wallMs = steps
    .filter(({ kind }) => kind === "start" || kind === "verify")
    .reduce((sum, { startedAt, endedAt }) => sum + Math.max(0, Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "") || 0), 0);
  const seconds = (wallMs / 1000 / starts) * timeScale;
  return {
    seconds,
    measured: true,
    basis: `A replica takes ${seconds.toFixed(1)} s to start and be verified, as measured in the last roll-outs here.`,
  };
}
