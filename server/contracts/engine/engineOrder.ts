import type { ModelDeployment } from "@/solver/plan/plan";
import type { EngineRequest } from "./emulatorAdmin";

/** An engine that a plan requires, however it is started: its model, shape, precision and GPUs. */
export interface EngineOrder extends EngineRequest {
  readonly precision: ModelDeployment["precision"];
  /** The most requests that the plan has in it at once; absent: as the planner assumes of every engine (`inFlightLimit`). */
  readonly maxInFlight?: number | undefined;
}
