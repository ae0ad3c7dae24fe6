import { z } from "zod";
import { keyReferenceSchema } from "../engine/engineAccess";

const rootAddress = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.canParse(text) || new URL(text).pathname === "/", "must have no path");

/**
 * Where a cluster's gateway listens and who runs it. One that is run beside the studio is started again when it ends and listens on
 * the loopback address; one of the operator's is only asked.
 */
export const gatewayPlaceSchema = z.discriminatedUnion("runBy", [
  z.strictObject({
    runBy: z.literal("studio"),
    port: z.int().min(1).max(65_535),
    adminPort: z.int().min(1).max(65_535),
  }),
  z.strictObject({
    runBy: z.literal("operator"),
    url: rootAddress,
    adminUrl: rootAddress,
    /** Of its admin listener; left out: the studio's own. */
    token: keyReferenceSchema.optional(),
  }),
]);

export type GatewayPlace = z.infer<typeof gatewayPlaceSchema>;
