import type { Canary, CanaryRequest } from "@/server/contracts/gateway/gatewayControls";

/** The agreed steps of a canary. */
export type CanaryPlan = Pick<CanaryRequest, "shares" | "stepSeconds" | "minRequests" | "stop">;

/** The state of its current step. */
export type CanaryProgress = Pick<Canary, "step" | "stepSinceMs" | "candidateArm" | "currentArm">;

/** A request that is finished, under the candidate or under the policy in force. */
export interface FinishedRequest {
  readonly arm: "candidateArm" | "currentArm";
  readonly failed: boolean;
  readonly slow: boolean;
}

export type Outlook =
  | { readonly kind: "stay" }
  | { readonly kind: "advance"; readonly progress: CanaryProgress }
  | { readonly kind: "promote" }
  /** `reason`: the sentence that says why. */
  | { readonly kind: "stop"; readonly reason: string };

/** The beginning of a step, with nothing counted yet. */
export function beginningOf(step: number, nowMs: number): CanaryProgress {
  const nothing = { finished: 0, failed: 0, slow: 0 };
  return { step, stepSinceMs: nowMs, candidateArm: nothing, currentArm: nothing };
}

/** The progress with one more request counted. */
export function withFinished(progress: CanaryProgress, { arm, failed, slow }: FinishedRequest): CanaryProgress {
  const before = progress[arm];
  const counted = { finished: before.finished + 1, failed: before.failed + Number(failed), slow: before.slow + Number(slow) };
  return { ...progress, [arm]: counted };
}

/**
 * The next action for a canary. It stops as soon as it is certain that more of the step's requests than the agreed share failed or were
 * slow: more than that share of the finished requests, or of the required number of requests if that is larger. Otherwise it moves to the
 * next step once the step has lasted long enough and enough requests are finished.
 */
export function outlook({ shares, stepSeconds, minRequests, stop }: CanaryPlan, progress: CanaryProgress, nowMs: number): Outlook {
  const { step, stepSinceMs, candidateArm } = progress;
  const { finished, failed, slow } = candidateArm;
  const requests = Math.max(finished, minRequests);
  const tooMany = (count: number, share: number, what: string): Outlook | null =>
    count > share * requests
      ? { kind: "stop", reason: `${count} of ${finished} requests ${what}, more than ${percent(share)} of ${requests}.` }
      : null;
  const failing = tooMany(failed, stop.errorShare, "failed");
  if (failing !== null) return failing;
  const { slow: objective } = stop;
  const slowing = objective && tooMany(slow, objective.share, `took longer than ${objective.endToEndSeconds} s`);
  if (slowing) return slowing;
  if (finished < minRequests || nowMs - stepSinceMs < stepSeconds * 1000) return { kind: "stay" };
  return step + 1 < shares.length ? { kind: "advance", progress: beginningOf(step + 1, nowMs) } : { kind: "promote" };
}

/** A share as a readable percentage. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(4))} %`;
}
