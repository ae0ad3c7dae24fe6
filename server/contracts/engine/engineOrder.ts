import type { ModelDeployment } from "@/solver/plan/plan";
import type { EngineRequest } from "./emulatorAdmin";

/** An engine that a plan asks for, whatever brings it up: what it serves, in which shape and precision, on which GPUs. */
export interface EngineOrder extends EngineRequest {
  readonly precision: ModelDeployment["precision"];
}
