import type { LiveFrame } from "@/server/contracts/studio";
import { RATE_WINDOW_MS } from "@/server/telemetry/decisionWindow";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted } from "@/solver/plan/policySchema";
import type { RegressionLook } from "../verification/regression";

/** The look at a roll-out from a frame of telemetry. `plan`: the one in force; null if it is not saved. */
export function regressionCheck(frame: LiveFrame, plan: Plan | null): RegressionLook {
  const { gateway, recent, timeScale } = frame;
  const count = (perSecond: number | null): number => Math.round((perSecond ?? 0) * timeScale * (RATE_WINDOW_MS / 1000));
  const ofPlan = plan !== null && plan.id === frame.planId ? plan : null;
  const seconds = ofPlan === null ? null : percentileOf(recent, ofPlan.inputs.objective.percentile);
  return {
    // A frame's own time is wall time, which may be set back and forth.
    ...{ atMs: performance.now(), timeScale, gatewayAnswers: gateway.state !== "unreachable" },
    engines: frame.engines.map(({ id, health }) => ({ id, health })),
    ended: {
      answered: count(gateway.requestsPerSecond),
      failed: count(gateway.errorsPerSecond),
      shed: count(gateway.shedPerSecond),
    },
    underWay: gateway.stages.reduce((sum, { queued, inFlight }) => sum + (queued ?? 0) + (inFlight ?? 0), gateway.queuedForAny ?? 0),
    unserved: gateway.stages.some(({ model }) => !frame.engines.some((engine) => engine.model === model && engine.health === "serving")),
    latency: seconds === null ? null : { requests: recent.requests, seconds },
    promisedSeconds: ofPlan === null || !isPredicted(ofPlan.policy) ? null : ofPlan.predictions.p95Band.high,
  };
}

/** The objective's percentile if it is one of the measured ones. */
function percentileOf({ p50Seconds, p95Seconds, p99Seconds }: LiveFrame["recent"], percentile: number): number | null {
  return { 50: p50Seconds, 95: p95Seconds, 99: p99Seconds }[percentile] ?? null;
}
