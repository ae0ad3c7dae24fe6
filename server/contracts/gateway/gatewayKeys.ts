import { z } from "zod";
import { signature } from "./gatewayControls";

/** A key of the gateway's clients, known by its SHA-256 only. */
export const gatewayKeySchema = z.strictObject({
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  requestsPerMinute: z.int().positive().optional(),
  /** Class of the work; it takes precedence over the request's own. */
  objective: z.string().min(1).optional(),
  /** UTC time from which it is refused; absent: it does not expire. */
  expiresAt: z.iso.datetime().optional(),
  /** Set: it is refused. A revoked key stays listed, so that the gateway does not become open with the last one. */
  revokedAt: z.iso.datetime().optional(),
});

/** GET `/keys`: the keys of the configuration; null: it has none, and every client is accepted. */
export const gatewayKeysSchema = z.object({
  keys: z.array(gatewayKeySchema.extend({ lastUsedAt: z.iso.datetime().nullable() })).nullable(),
});

/** PUT `/keys` with `If-Match: "<etag of the configuration>"`: replaces the keys and nothing else. */
export const keysRequestSchema = z.strictObject({ keys: z.array(gatewayKeySchema).min(1).max(1000), ...signature });

export type GatewayKey = z.infer<typeof gatewayKeySchema>;
export type GatewayKeys = z.infer<typeof gatewayKeysSchema>;

/** Why a key is refused at a time in Unix milliseconds; null if it is accepted. */
export function keyEnd({ expiresAt, revokedAt }: Pick<GatewayKey, "expiresAt" | "revokedAt">, nowMs: number): "revoked" | "expired" | null {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs ? "expired" : null;
}
