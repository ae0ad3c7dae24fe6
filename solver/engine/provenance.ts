import { z } from "zod";

/** The origin of a number. Shown next to it, also on the screen. */
export const provenanceSchema = z.strictObject({
  kind: z.enum(["measured", "fitted", "extrapolated", "published"]),
  source: z.string().min(1),
});

export type Provenance = z.infer<typeof provenanceSchema>;
