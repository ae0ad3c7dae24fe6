/** The current phase of planning. `of` is null where the total is unknown; `done` never falls within a phase. */
export interface PlanningProgress {
  readonly phase: "searching" | "alternating" | "dispatching" | "deploying" | "simulating" | "examining";
  /** Routings searched, rounds of the alternation, slack dispatches simulated, plans deployed and simulated before this one, questions answered. */
  readonly done: number;
  readonly of: number | null;
}

/** Called from time to time; an exception thrown by it ends the planning. */
export type OnProgress = (progress: PlanningProgress) => void;
