import { z } from "zod";
import type { Histogram } from "./outcome";

const span = { clusterId: z.string().min(1), fromMs: z.number().min(0), toMs: z.number() };

/** The source of a workload's arrivals. */
const arrivalsChoiceSchema = z.discriminatedUnion("kind", [
  /** Bursty, as in the Azure conversation trace. */
  z.strictObject({ kind: z.literal("generated") }),
  /** A CSV file with a column TIMESTAMP. */
  z.strictObject({ kind: z.literal("upload"), uploadId: z.uuid() }),
  /** Every request in the gateway's present records. */
  z.strictObject({ kind: z.literal("gateway"), clusterId: z.string().min(1) }),
  /** Rates of the engines' counters, as stored by the studio; within a step arrivals are modelled. */
  z.strictObject({ kind: z.literal("counters"), ...span }),
  /** Requests per second in each hour of the day, from midnight; arrivals are modelled. */
  z.strictObject({ kind: z.literal("hours"), requestsPerSecond: z.array(z.number().min(0).max(100_000)).length(24).readonly() }),
  /** The arrivals of another workload. */
  z.strictObject({ kind: z.literal("workload"), workloadId: z.string().min(1) }),
]);

/** Part of the day, from one hour to another, over midnight if the second is smaller. */
const segmentSchema = z
  .strictObject({
    name: z.string().trim().min(1, "name the segment").max(40),
    fromHour: z.number().min(0).max(24),
    toHour: z.number().min(0).max(24),
  })
  .refine(({ fromHour, toHour }) => fromHour !== toHour, { error: "a segment ends at another hour than it begins" });

export const replaceArrivalsSchema = z.object({
  workloadId: z.string().min(1),
  arrivals: arrivalsChoiceSchema,
  /** One workload for each; empty: one for the whole day. */
  segments: z.array(segmentSchema).max(8).readonly(),
  /** IANA name of the time zone of the hours. */
  timeZone: z.string().min(1).max(60),
});

export const arrivalsPreviewSchema = replaceArrivalsSchema.omit({ workloadId: true });

/** Arrivals before they are combined with outcomes. */
export interface ArrivalsPreview {
  readonly arrivals: number;
  readonly origin: string;
  readonly requestsPerSecond: number;
  /** Edges in seconds since the first arrival. */
  readonly histogram: Histogram;
  /** Mean rate in each hour of the day of the time zone; null in hours without data, and for arrivals without a clock. */
  readonly byHour: readonly (number | null)[] | null;
  readonly segments: readonly { readonly name: string; readonly arrivals: number; readonly requestsPerSecond: number }[];
}

export type ArrivalsChoice = z.infer<typeof arrivalsChoiceSchema>;
export type Segment = z.infer<typeof segmentSchema>;
export type ReplaceArrivals = z.infer<typeof replaceArrivalsSchema>;
