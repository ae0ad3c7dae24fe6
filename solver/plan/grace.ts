import { z } from "zod";

/**
 * What a cascade does while requests pile up in front of a later stage: its thresholds fall inside their approved ranges, so that fewer
 * answers are escalated, and return to those of the plan once the queue is short again. Seconds are engine seconds.
 */
export const graceSchema = z.object({
  /** Requests that may wait for one later stage; while more do, the thresholds of the stages before it fall. */
  waiting: z.int().min(1).max(1_000_000),
  /** Thresholds return only while no later stage has more waiting requests than this: fewer than `waiting`. */
  calm: z.int().min(0).max(1_000_000),
  /** How long that must have been so before the first step back. At least as long as a step, so that a longer queue never raises a threshold. */
  holdSeconds: z.number().min(1).max(3600),
  /** Points by which a threshold falls or returns each second. */
  pointsPerSecond: z.int().min(1).max(100),
});

export type Grace = z.infer<typeof graceSchema>;

/** Seconds between two steps of a threshold. */
export const GRACE_STEP_SECONDS = 1;

/** Points by which overload may lower each threshold of a cascade: to the end of its approved range, but not to 0, where answers would get no score. */
export const gracePoints = ({
  thresholds,
  approvedRanges,
}: {
  readonly thresholds: readonly number[];
  /** Left out: no threshold may change. */
  readonly approvedRanges?: { readonly thresholds: readonly { readonly min: number }[] } | undefined;
}): readonly number[] =>
  thresholds.map((planned, stage) => Math.max(0, planned - Math.max(1, approvedRanges?.thresholds[stage]?.min ?? planned)));

/** Why this grace cannot be part of a cascade with so many stages, in one sentence; null if it can. */
export function graceFault({
  grace,
  stages,
  cascadeRouting,
}: {
  readonly grace?: Grace | undefined;
  readonly stages: readonly unknown[];
  readonly cascadeRouting?: unknown;
}): string | null {
  if (grace === undefined) return null;
  if (stages.length < 2) return "Grace lowers thresholds, and a cascade of one stage has none.";
  if (cascadeRouting !== undefined)
    return "Grace lowers thresholds, and cascade routing compares no score with one: leave one of the two out.";
  if (grace.calm >= grace.waiting)
    return `Grace ends at ${grace.calm} waiting requests and begins above ${grace.waiting}: the first must be the smaller number.`;
  return null;
}

/** Grace in words: what moves thresholds, and how fast. */
export const graceText = ({ waiting, calm, holdSeconds, pointsPerSecond }: Grace): string =>
  `thresholds fall by ${pointsPerSecond} a second while more than ${waiting} requests wait for a later stage, and return after ${holdSeconds} s with at most ${calm}`;
