import { z } from "zod";
import { keyLimits, limitNames } from "@/solver/wording/keyLimits";
import { headerText, signature } from "./gatewayControls";

export const keyLimitNameSchema = z.enum(limitNames);

const tokens = z.int("a limit of tokens is a whole number").min(1, "allow at least one token").max(1e12, "allow at most 1e12 tokens");
const usd = z
  .number("a budget is a number of USD")
  .min(0.000001, "a budget has at least 0.000001 USD")
  .max(1_000_000, "a budget has at most 1,000,000 USD");

export const keyLimitsSchema = z
  .strictObject({
    tokensPerMinute: tokens.optional(),
    tokensPerDay: tokens.optional(),
    usdPerHour: usd.optional(),
    usdPerDay: usd.optional(),
    usdPerMonth: usd.optional(),
    /** Share of a limit from which its use is reported: in a header, and once a window in metrics and audit. Absent: never. */
    warnAt: z.number().gt(0, "the share must be above 0").lt(1, "the share must be below 1").optional(),
  })
  .refine((given) => keyLimits.some(({ name }) => given[name] !== undefined), "give at least one limit, or leave `limits` out");

const label = headerText.min(1, "a label has at least one character").max(60, "a label has at most 60 characters");

/** Whose key it is; in audit, records, metrics and the report of use. */
export const keyLabelsSchema = z.strictObject({ team: label.optional(), project: label.optional() });

export const keyModelsSchema = z
  .array(headerText.min(1, "name a model"))
  .min(1, "name at least one model, or leave `models` out")
  .max(100, "name at most 100 models");

/** A key of the gateway's clients, known by its SHA-256 only. */
export const gatewayKeySchema = z.strictObject({
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  requestsPerMinute: z.int().positive().optional(),
  /** Limits of tokens and money. Money needs a price of every model. */
  limits: keyLimitsSchema.optional(),
  /** Names of models that it may ask for; `cascade/default` allows the cascade in force under each of its names. Absent: all. */
  models: keyModelsSchema.optional(),
  labels: keyLabelsSchema.optional(),
  /** Class of the work; it takes precedence over the request's own. */
  objective: z.string().min(1).optional(),
  /** UTC time from which it is refused; absent: it does not expire. */
  expiresAt: z.iso.datetime().optional(),
  /** Set: it is refused. A revoked key stays listed, so that the gateway does not become open with the last one. */
  revokedAt: z.iso.datetime().optional(),
});

/** The use of one limit in its present window, in tokens or USD. */
const limitUseSchema = z.object({
  limit: keyLimitNameSchema,
  most: z.number(),
  used: z.number(),
  /** Reserved by requests in flight, until their use is known. */
  reserved: z.number(),
  /** End of the window, UTC. */
  resetsAt: z.iso.datetime(),
});

/** GET `/keys`: the keys of the configuration; null: it has none, and every client is accepted. */
export const gatewayKeysSchema = z.object({
  keys: z
    .array(
      gatewayKeySchema.extend({
        lastUsedAt: z.iso.datetime().nullable(),
        /** One entry for each limit. Absent without limits. */
        use: z.array(limitUseSchema).optional(),
      }),
    )
    .nullable(),
  /** Classes of work that a key may have, and the share of a queue that each may fill. Absent in older gateways. */
  priorityClasses: z.array(z.object({ name: z.string(), queueFraction: z.number() })).optional(),
});

/** PUT `/keys` with `If-Match: "<etag of the configuration>"`: replaces the keys and nothing else. */
export const keysRequestSchema = z.strictObject({ keys: z.array(gatewayKeySchema).min(1).max(1000), ...signature });

/** What requests with a key used of a model on a day. */
const keyUseSchema = z.object({
  /** UTC, such as 2026-01-31. */
  day: z.iso.date(),
  key: z.string(),
  model: z.string(),
  /** Labels that the key had; absent: none. */
  team: z.string().optional(),
  project: z.string().optional(),
  /** Requests that the model answered: its answer was the one that the client got. */
  requests: z.int(),
  /** Tokens of all its answers, including those that were not accepted. */
  inputTokens: z.int(),
  outputTokens: z.int(),
  /** Sum of `costUsd` of the records, by model. A judge has its own row. */
  usd: z.number(),
  /** Requests, counted where they were answered, whose cost is not known; `usd` does not contain them. */
  unpriced: z.int(),
});

/** GET `/usage?from=2026-01-01&to=2026-01-31`: by day, key and model; both days belong to it, and either may be left out. */
export const gatewayUsageSchema = z.object({
  rows: z.array(keyUseSchema),
  /** Days for which a gateway keeps use. */
  keptDays: z.int(),
});

export type GatewayKey = z.infer<typeof gatewayKeySchema>;
export type GatewayKeys = z.infer<typeof gatewayKeysSchema>;
export type KeyLabels = z.infer<typeof keyLabelsSchema>;
export type KeyLimits = z.infer<typeof keyLimitsSchema>;
export type LimitUse = z.infer<typeof limitUseSchema>;
export type KeyUse = z.infer<typeof keyUseSchema>;
export type GatewayUsage = z.infer<typeof gatewayUsageSchema>;

/** Why a key is refused at a time in Unix milliseconds; null if it is accepted. */
export function keyEnd({ expiresAt, revokedAt }: Pick<GatewayKey, "expiresAt" | "revokedAt">, nowMs: number): "revoked" | "expired" | null {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs ? "expired" : null;
}
