import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { GatewayLimits } from "../http/limits";

/**
 * Engine seconds after which the gate of an ensemble decides about the answers there are: its own deadline, but half of what a request may take where that is
 * less. As much at least is left to the aggregator.
 *
 * @param timeScale engine seconds in one of the wall.
 */
export const decidesAfterSeconds = (
  { deadlineSeconds }: Pick<Ensemble, "deadlineSeconds">,
  { requestSeconds }: Pick<GatewayLimits, "requestSeconds">,
  timeScale: number,
): number => Math.min(deadlineSeconds, (requestSeconds * timeScale) / 2);
