import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { DispatchExploration, DispatchPoint } from "./dispatchExploration";

/** Shim until the planner's own arrives. */
export function chooseDispatch(
  exploration: DispatchExploration,
  knobs: Knobs,
  tau: number | null,
): { chosen: DispatchPoint | null; slack: { limitSeconds: number; fastest: DispatchPoint } | null } {
  const quality = (p: DispatchPoint) => (knobs.qualityConfidence === null ? p.quality : p.qualityLow);
  const all = exploration.points.filter(
    (p) =>
      (tau === null || p.tau === tau) &&
      p.gpusTotal <= knobs.maxGpus &&
      quality(p) >= (knobs.qualityFloor ?? 0) &&
      p.latencySeconds <= (knobs.latencyBudgetSeconds ?? Infinity),
  );
  const fastest = Math.min(...all.map((p) => p.latencySeconds));
  const limit = knobs.slack === undefined ? Infinity : (1 + knobs.slack) * fastest;
  const key =
    knobs.kind === "cost-under-both"
      ? (p: DispatchPoint) => p.costUsdPerRequest
      : knobs.kind === "quality-under-latency" || knobs.slack
        ? (p: DispatchPoint) => -quality(p)
        : (p: DispatchPoint) => p.latencySeconds;
  const first = all.find((p) => p.latencySeconds === fastest);
  return {
    chosen: all.filter((p) => p.latencySeconds <= limit).sort((a, b) => key(a) - key(b))[0] ?? null,
    slack: knobs.slack === undefined || first === undefined ? null : { limitSeconds: limit, fastest: first },
  };
}
