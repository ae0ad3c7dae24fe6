import type { ProfileJob } from "@/server/contracts/studio";

const RUNNING_MS = 1_000;
const IDLE_MS = 5_000;

/** How often a job is looked at: one that is paused may be resumed elsewhere; one that is over changes no more. `undefined`: it is not known yet. */
export const jobRefreshMs = (state: ProfileJob["state"] | undefined): number | false =>
  state === "running" ? RUNNING_MS : state === "paused" ? IDLE_MS : false;
