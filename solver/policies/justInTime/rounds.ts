import type { Action, View } from "../core/policy";
import type { ModelEngines } from "./modelEngines";
import type { RoundLog } from "./roundLog";
import type { StagedWork } from "./roundQueue";
import type { StagedCalls } from "./stagedCalls";

/** Gives waiting requests, in the order of the view, models and replicas while these have room. */
export type Rounds = (view: View, actions: Action[]) => void;

/** The state of a policy that its rounds read, and what they do. */
export interface RoundState {
  readonly engines: readonly ModelEngines[];
  readonly calls: StagedCalls;
  readonly log: RoundLog;
  /** The models at which the place has held a request back in the current decision, as bits. */
  readonly heldAt: (one: StagedWork) => number;
  /** Models at which the place has held back `MOST_HELD` requests in the current decision, as bits: no more are tried there. */
  readonly overheld: () => number;
  /** Models that are not there, as bits. */
  readonly out: () => number;
  /** The models that a request may run on, as bits. */
  readonly allowed: (one: StagedWork) => number;
  /** Sends a request to a replica of a model that has room, unless the place holds it back. @returns whether it was sent. */
  readonly send: (one: StagedWork, model: number, nowSeconds: number, actions: Action[]) => boolean;
}
