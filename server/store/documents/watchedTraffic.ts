import type { TrafficReport } from "@/server/contracts/studio";
import type { DriftState } from "@/solver/numeric/drift";

/** What is known of the traffic under one plan. */
export interface WatchedTraffic {
  readonly state: DriftState;
  /** Means in the last window in which each was seen. */
  readonly now: Readonly<Record<string, number>>;
  readonly last: TrafficReport["last"];
  readonly driftedSince: string | null;
  /** Levels of what had drifted when a plan was last looked for; null: none was since traffic was steady. */
  readonly answered: Readonly<Record<string, number>> | null;
  readonly says: string | null;
}
