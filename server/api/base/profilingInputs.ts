import { z } from "zod";
import { replaceArrivalsSchema } from "@/server/contracts/studio/arrivals";
import { answerParts } from "@/solver/gates/gateDocument";
import { enteredTitle } from "@/solver/wording/names";

export const byJob = z.object({ jobId: z.string().min(1) });
export const resumeProfileSchema = byJob.extend({ capUsd: z.number().positive().nullable().optional() });
export const trustSchema = byJob.extend({ floor: z.number().min(0).max(100) });
export const toWorkloadSchema = byJob.extend({
  name: enteredTitle,
  /** Measure whose score a gate will use while serving: one that a judge gives. */
  gate: z.string().min(1),
  /** Another measure, whose score is the quality. */
  label: z.string().min(1),
  /** Model of the profile whose answers those of the others are compared with, in place of samples: the column agreement; null: none. */
  peer: z
    .strictObject({ model: z.string().min(1), answer: z.enum(answerParts) })
    .nullable()
    .optional(),
  ...replaceArrivalsSchema.pick({ arrivals: true, segments: true, timeZone: true }).shape,
});
export const enableScheduleSchema = z.object({ clusterId: z.string().min(1), enabled: z.boolean() });
export const compareWorkloadsSchema = z.object({ a: z.string().min(1), b: z.string().min(1) });

export type ProfileToWorkload = z.infer<typeof toWorkloadSchema>;
