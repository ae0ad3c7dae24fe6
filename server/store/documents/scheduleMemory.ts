import type { ScheduleState } from "@/server/contracts/studio";

/** What a schedule knows of its switches, so that the studio after this one goes on where it was. */
export interface ScheduleMemory {
  /** The plan that it found in force when it was set, or put there since; with another one in force somebody else steers. null: none. */
  readonly expectedPlanId: string | null;
  /** Switches up to then are settled. */
  readonly settledMs: number;
  /** A switch that is due and did not begin yet, written down before it is tried. */
  readonly trying: {
    readonly switchMs: number;
    readonly sinceMs: number;
    readonly planId: string;
    /** The cluster's newest application before it; null: there was none. */
    readonly afterId: string | null;
    /** Why it waits. */
    readonly message: string;
  } | null;
  /** Its own application that has not ended. */
  readonly rollingId: string | null;
  readonly last: ScheduleState["last"];
}
