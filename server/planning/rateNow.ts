import type { Collector } from "@/server/telemetry/collector";
import type { Plan } from "@/solver/plan/plan";

/** With fewer requests there is no reliable rate. */
const LEAST_REQUESTS = 50;

/**
 * Requests per engine second: measured if there is load, else those that the plan was made for. Rounded, so that a repeated request costs
 * nothing.
 */
export function rateNow(
  collector: Pick<Collector, "frames"> | null,
  target: Plan,
): { readonly requestsPerSecond: number; readonly basis: string } {
  const frame = collector?.frames().at(-1);
  const planned = target.inputs.workload.requestsPerSecond;
  if (frame === undefined || frame.recent.requests === 0 || frame.measured.requests < LEAST_REQUESTS)
    return {
      requestsPerSecond: planned,
      basis: `At ${planned} requests/s, for which the plan was made: no load to speak of is measured at the gateway.`,
    };
  const { requests, windowSeconds } = frame.measured;
  const requestsPerSecond = Number((requests / windowSeconds).toPrecision(2));
  return {
    requestsPerSecond,
    basis: `At ${requestsPerSecond} requests/s, as measured at the gateway over the last ${Math.round(windowSeconds)} s; the plan was made for ${planned}.`,
  };
}
