import { z } from "zod";

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "write a time of day like 07:30");

/** The approved plans of a cluster, each with the time of day from which it is in force. */
export const scheduleSchema = z.object({
  clusterId: z.string().min(1),
  /** IANA name of the time zone of the times. */
  timeZone: z.string().min(1).max(60),
  entries: z
    .array(z.strictObject({ at: timeOfDay, planId: z.string().min(1) }))
    .min(2, "give at least two times: with one plan nothing is to be switched")
    .max(24)
    .refine((entries) => new Set(entries.map(({ at }) => at)).size === entries.length, { error: "give each time of day once" })
    .readonly(),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/** The present state of a schedule. */
export interface ScheduleState {
  readonly schedule: Schedule;
  readonly enabled: boolean;
  readonly setBy: string;
  readonly setAt: string;
  readonly next: { readonly at: string; readonly planId: string; readonly planName: string } | null;
  /** The result of the last switch, in a sentence; null: none yet. */
  readonly last: { readonly at: string; readonly ok: boolean; readonly message: string; readonly applicationId: string | null } | null;
  /** Why the next switch would be refused now, for example because a plan's approval is missing; null: it would not. */
  readonly problem: string | null;
}
