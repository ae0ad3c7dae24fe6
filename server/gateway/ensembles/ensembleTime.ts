import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { GatewayLimits } from "../http/limits";

/**
 * Engine seconds after which the gate of an ensemble decides on the available answers: its own deadline, or half of a request's time limit
 * if that is less. The aggregator has at least as much time.
 *
 * @param timeScale engine seconds per wall second.
 */
export const decidesAfterSeconds = (
  { deadlineSeconds }: Pick<Ensemble, "deadlineSeconds">,
  { requestSeconds }: Pick<GatewayLimits, "requestSeconds">,
  timeScale: number,
): number => Math.min(deadlineSeconds, (requestSeconds * timeScale) / 2);
