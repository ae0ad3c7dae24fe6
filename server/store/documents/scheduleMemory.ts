import type { ScheduleState } from "@/server/contracts/studio";

/** A schedule's state about its switches, so that the next studio continues from it. */
export interface ScheduleMemory {
  /**
   * The plan that was in force when it was set, or that it put into force since; if another one is in force, the schedule is not in
   * control. null: none.
   */
  readonly expectedPlanId: string | null;
  /** Switches up to then are finished. */
  readonly settledMs: number;
  /** A due switch that has not begun yet, stored before it is tried. */
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
