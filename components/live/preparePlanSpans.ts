import type { LiveFrame } from "@/server/contracts/studio";

/** A time over which one plan was in force. */
export interface PlanSpan {
  readonly planId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The spans of plans over the range of a chart, oldest first, each from the first frame that names the plan to the last. Frames
 * in which the gateway did not say are bridged only between frames of one plan.
 */
export function preparePlanSpans(frames: readonly LiveFrame[], rangeSeconds: number): readonly PlanSpan[] {
  const startMs = (frames.at(-1)?.atMs ?? 0) - rangeSeconds * 1000;
  const spans: PlanSpan[] = [];
  for (const { atMs, planId } of frames) {
    if (planId === null || atMs < startMs) continue;
    const last = spans.at(-1);
    if (last?.planId === planId) spans[spans.length - 1] = { ...last, toMs: atMs };
    else spans.push({ planId, fromMs: atMs, toMs: atMs });
  }
  return spans;
}
