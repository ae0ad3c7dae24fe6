import { z } from "zod";

/** Where a number comes from. Shown beside it, also on the screen. */
export const provenanceSchema = z.strictObject({
  kind: z.enum(["measured", "fitted", "extrapolated", "published"]),
  source: z.string().min(1),
});

export type Provenance = z.infer<typeof provenanceSchema>;
