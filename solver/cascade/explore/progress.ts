/** What planning is at. `of` is null where nobody can know how much there is; `done` never falls within a phase. */
export interface PlanningProgress {
  readonly phase: "searching" | "alternating" | "deploying" | "simulating" | "examining";
  /** Routings searched, rounds of the alternation, plans deployed and simulated before this one, questions answered. */
  readonly done: number;
  readonly of: number | null;
}

/** Told now and then; what it throws ends the planning. */
export type OnProgress = (progress: PlanningProgress) => void;
