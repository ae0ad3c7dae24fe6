import { z } from "zod";
import type { Decision } from "../gateway/gatewayAdmin";
import type { LiveFrame } from "./liveFrame";
import type { SeriesKey, SeriesRange } from "./seriesRange";

/** Filter for decision records; every condition that is set must hold. */
export const decisionFilterSchema = z.object({
  outcome: z.enum(["any", "answered", "failed", "escalated", "unjudged"]),
  /** A model that the request reached. */
  model: z.string().min(1).max(500).nullable(),
  /** An engine that the request reached. */
  replica: z.string().min(1).max(500).nullable(),
  /** End to end, engine seconds. */
  slowerThanSeconds: z.number().nonnegative().nullable(),
  /** Part of a request's id or of a program's name. */
  text: z.string().max(200, "look for at most 200 characters").nullable(),
});
export type DecisionFilter = Readonly<z.infer<typeof decisionFilterSchema>>;

/** Charts that follow the present. */
export interface FollowedCharts {
  /** Length of the time shown, up to now. */
  readonly spanMs: number;
  /** Most buckets. */
  readonly points: number;
  readonly series: readonly SeriesKey[];
}

/** The topics that one tab requests from a cluster's stream. Frames are always sent. */
export interface LiveTopics {
  readonly charts: FollowedCharts | null;
  readonly decisions: DecisionFilter | null;
}

/** Events in the single stream of a tab. */
export type LiveEvent =
  | { readonly kind: "frame"; readonly frame: LiveFrame }
  /**
   * Buckets of the charts: the first time all of the span, then those from the newest known one on, which they replace. Buckets start at
   * whole multiples of `bucketMs` since 1970, so that they are identical each time.
   */
  | { readonly kind: "columns"; readonly range: SeriesRange }
  /** Records that passed the filter and were not sent before, newest first; `matched` and `looked` are totals so far. */
  | { readonly kind: "decisions"; readonly records: readonly Decision[]; readonly matched: number; readonly looked: number };

/** A plan that was in force in a range of time. */
export interface PlanInForce {
  readonly planId: string;
  readonly fromMs: number;
  /** null: it is still in force. */
  readonly toMs: number | null;
}
