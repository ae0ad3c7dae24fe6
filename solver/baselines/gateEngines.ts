import { saturationRate } from "../engine/saturation";
import { simulateReplica } from "../engine/simulateReplica";
import { atRate } from "../engine/thinning";
import type { ShapedReplica } from "../hardware/replicaShapes";
import { mean } from "../numeric/quantile";

/** One request per reading of a gate: prompt and answer of a verifier, or of a second model. */
export interface GateWork {
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
}

/** What readings of a gate take on engines of its own. */
interface GateEngines {
  /** Mean time of a reading, in seconds, waiting included. */
  readonly seconds: number;
  /** Time of each reading of the run, of the work in its order, repeated. */
  readonly endToEndSeconds: Float64Array;
  /** Readings a second of one GPU at `GATE_LOAD`. */
  readonly readingsPerGpuSecond: number;
}

/** Load, relative to saturation, at which a gate's engines are sized: as far as an operator would load them. */
export const GATE_LOAD = 0.7;

/** Requests of a run. */
const REQUESTS = 2000;

/**
 * Sizes the engines of a gate by simulating one replica of them at `GATE_LOAD` of its saturation. Modelled: readings come as the recorded
 * arrivals do, and an engine serves nothing else.
 *
 * @param work at least one request; repeated until there are enough.
 * @param arrivalSeconds recorded arrivals, unscaled.
 * @throws RangeError where the replica cannot serve the requests.
 */
export function gateEngines({ replica, shape }: ShapedReplica, work: GateWork, arrivalSeconds: Float64Array): GateEngines {
  const requests = Math.min(REQUESTS, arrivalSeconds.length);
  const repeated = (values: Int32Array): Int32Array => Int32Array.from({ length: requests }, (_, at) => values[at % values.length] ?? 0);
  const own = { inputTokens: repeated(work.inputTokens), outputTokens: repeated(work.outputTokens) };
  const saturated = saturationRate(replica, own, requests);
  if (saturated === null) throw new RangeError("The replica cannot serve the readings of the gate");
  const requestsPerSecond = GATE_LOAD * saturated;
  const { endToEndSeconds } = simulateReplica(replica, {
    ...own,
    arrivalSeconds: atRate(arrivalSeconds.subarray(0, requests), requestsPerSecond),
  });
  return { seconds: mean(endToEndSeconds), endToEndSeconds, readingsPerGpuSecond: requestsPerSecond / (shape.tp * shape.pp) };
}
