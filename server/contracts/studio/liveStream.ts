import { z } from "zod";
import type { Decision } from "../gateway/gatewayAdmin";
import type { LiveFrame } from "./liveFrame";
import type { SeriesKey, SeriesRange } from "./seriesRange";

/** Which decision records are wanted; every condition that is set must hold. */
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
  /** Time shown, up to now. */
  readonly spanMs: number;
  /** Buckets at most. */
  readonly points: number;
  readonly series: readonly SeriesKey[];
}

/** What one tab wants of a cluster's stream. Frames always come. */
export interface LiveTopics {
  readonly charts: FollowedCharts | null;
  readonly decisions: DecisionFilter | null;
}

/** What comes over the one stream of a tab. */
export type LiveEvent =
  | { readonly kind: "frame"; readonly frame: LiveFrame }
  /**
   * Buckets of the charts: the first time all of the span, then those from the newest known one on, which they replace. Buckets lie on
   * whole multiples of `bucketMs` since 1970, so that they are the same ones each time.
   */
  | { readonly kind: "columns"; readonly range: SeriesRange }
  /** Records that passed the filter and were not sent before, newest first; `matched` of `looked` at in all so far. */
  | { readonly kind: "decisions"; readonly records: readonly Decision[]; readonly matched: number; readonly looked: number };

/** A plan that was in force in a range of time. */
export interface PlanInForce {
  readonly planId: string;
  readonly fromMs: number;
  /** null: it still is. */
  readonly toMs: number | null;
}
