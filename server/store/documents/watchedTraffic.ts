import type { TrafficReport } from "@/server/contracts/studio";
import type { DriftState } from "@/solver/numeric/drift";

/** The observed traffic under one plan. */
export interface WatchedTraffic {
  readonly state: DriftState;
  /** Means in the last window in which each was observed. */
  readonly now: Readonly<Record<string, number>>;
  readonly last: TrafficReport["last"];
  readonly driftedSince: string | null;
  /** Levels of the drifted quantities at the last search for a plan; null: none since the traffic was steady. */
  readonly answered: Readonly<Record<string, number>> | null;
  readonly says: string | null;
}
