import { z } from "zod";
import { keyReferenceSchema } from "@/solver/wording/keyReference";

const rootAddress = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.canParse(text) || new URL(text).pathname === "/", "must have no path");

/**
 * Where a cluster's gateway listens and who runs it. A gateway that the studio runs is restarted when it ends and listens on the loopback
 * address; an operator's is only called.
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
    /** Token of its admin listener; absent: the studio's own. */
    token: keyReferenceSchema.optional(),
  }),
]);

export type GatewayPlace = z.infer<typeof gatewayPlaceSchema>;
