/** The current phase of planning. `of` is null where the total is unknown; `done` never falls within a phase of one rate. */
export interface PlanningProgress {
  readonly phase: "searching" | "comparing" | "alternating" | "dispatching" | "deploying" | "simulating" | "examining";
  /** Routings searched, candidates of a mix compared, rounds of the alternation, slack dispatches simulated, plans deployed and simulated before this one, questions answered. */
  readonly done: number;
  readonly of: number | null;
  /** The rate that is planned in a search for the highest one, and its number in the search, from 1; left out: the rate was given. */
  readonly rate?: { readonly requestsPerSecond: number; readonly number: number };
}

/** Called from time to time; an exception thrown by it ends the planning. */
export type OnProgress = (progress: PlanningProgress) => void;
